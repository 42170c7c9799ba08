import HTTPServer
import SeededRandomness

@testable import ConciergeApp
@testable import Sessions

/// Requests with an idempotency key.
extension Client {
    /// Sends a request whose key others use as well.
    mutating func request(_ server: SharedServer) async throws -> Outcome {
        let number = fleet.keys.key(reaching: Int.random(in: 0...2, using: &random))
        guard let key = IdempotencyKey(Array("key-\(number)".utf8)) else { return .answered }
        let fingerprint = IdempotencyFingerprint(SHA256Digest(of: Array("request \(number)".utf8)))
        let store = server.idempotency
        var decision = store.begin(scope: .peer("a client"), key: key, fingerprint: fingerprint, of: 0)
        if case .proceed(let ticket) = decision {
            do {
                decision = try await store.claim(ticket)
            } catch let error as SessionError where error.isTemporary {
                return .unknown
            }
        }
        switch decision {
        case .proceed(let ticket):
            let text = fleet.keys.execute(number, at: ObjectIdentifier(server))
            // Some requests take a while.
            for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
            fleet.keys.replayed(number, text)
            store.finish(ticket, HTTPResponse(.created, text: text))
        case .replay(let response):
            fleet.keys.replayed(number, String(decoding: response.body, as: UTF8.self))
        case .inProgress: break
        case .mismatch: throw Mismatch(key: number)
        }
        return .answered
    }

    struct Mismatch: Error { let key: Int }
}
