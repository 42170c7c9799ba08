import Foundation

/// Signing in from a flow: the event that sends the credentials carries a challenge. When the flow has signed somebody
/// in, the old token opens one thing alone: the new token, for the client with the verifier of the challenge.
extension Session {
    private struct Fresh: Decodable {
        let token: String
    }

    /// What events carry. The same one until it was used: the person may go on in another journey meanwhile.
    var challenge: String {
        following.withLock { following in
            let verifier = following.verifier ?? Verifier()
            following.verifier = verifier
            return verifier.challenge
        }
    }

    /// A token was refused, perhaps because of a sign-in: then this gets the new one.
    ///
    /// - Returns: whether there is another token now.
    func exchange(_ former: String) async throws -> Bool {
        let (token, running) = following.withLock { following -> (String, Task<Bool, any Error>?) in
            guard following.token == former, let verifier = following.verifier else { return (following.token, nil) }
            let task = following.exchange ?? Task { try await self.exchange(former, verifier) }
            following.exchange = task
            return (former, task)
        }
        return try await running?.value ?? (token != former)
    }

    private func exchange(_ former: String, _ verifier: Verifier) async throws -> Bool {
        defer { following.withLock { $0.exchange = nil } }
        do {
            let answer = try await transport.send(
                "POST", "\(Self.current)/tokens", token: former, body: ["verifier": .string(verifier.text)])
            let fresh: Fresh = try answer.decode()
            following.withLock { $0.verifier = nil }
            replaceToken(by: fresh.token)
            save(fresh.token)
            return true
        } catch let problem as Problem where problem.status == 401 {
            return false
        }
    }
}
