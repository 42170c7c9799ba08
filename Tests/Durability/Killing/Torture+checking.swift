import HTTPTestClient
import Support

/// Reads the sessions after a kill, and judges their states.
extension Torture {
    /// Starts the program again, for the next round, and reads all sessions.
    ///
    /// - Parameter canRaise: whether the killed program sent responses before the sync. Otherwise revisions go on from
    ///   where they were.
    mutating func check(_ reports: [Int: [RoundClient.Report]], canRaise: Bool) async throws {
        let server = try await freshServer()
        let port = server.port
        for (session, reports) in reports {
            sessions[session].token = reports.count == 1 ? reports[0].token ?? "" : sessions[session].token
        }
        let tokens = sessions.map(\.token)
        let found = try await blocking {
            let connection = try Connection(port: port)
            return try tokens.map { $0.isEmpty ? nil : try connection.state(token: $0) }
        }
        for index in sessions.indices {
            // A new token may have been lost: no client can read the session any more.
            guard let state = found[index] else { continue }
            let requests = (reports[index] ?? []).flatMap(\.requests)
            let history = History(start: sessions[index].state, requests: requests, found: state)
            if let violation = history.violation() {
                throw Violation(description: "seed \(seed), kill \(kills): \(violation)")
            }
            let most = sessions[index].state.revision + requests.count + Self.mostOnTheWay
            guard canRaise || state.isEnded || state.revision <= most else {
                throw Violation(
                    description: "seed \(seed), kill \(kills): revision \(state.revision) after at most \(most)")
            }
            sessions[index].state = state
        }
        sessions.removeAll(where: \.token.isEmpty)
        users = Set(reports.values.joined().compactMap(\.user))
        try await checkUsers(server)
        checked = server
    }

    /// By far more than one request makes.
    private static let mostOnTheWay = 100

    /// Each user's list has exactly the sessions with that user.
    private func checkUsers(_ server: Server) async throws {
        let (sessions, port) = (sessions, server.adminPort)
        let attached = sessions.filter { !$0.state.isEnded && $0.state[.user].write != 0 }
        let users = users.union(attached.map { $0.state[.user].write })
        let listed = try await blocking {
            let connection = try Connection(port: port)
            return try users.map { user in
                (user, try connection.send("GET", "/v1/users/u-\(user)/sessions").items.compactMap { $0[string: "id"] })
            }
        }
        for (user, ids) in listed {
            let expected = attached.filter { $0.state[.user].write == user }.map(\.id)
            // The list may also have a session whose token is lost.
            let known = ids.filter { id in sessions.contains { $0.id == id } }
            guard known != expected else { continue }
            throw Violation(
                description: "seed \(seed), kill \(kills): user u-\(user) is listed with \(ids), and is of \(expected)")
        }
    }
}
