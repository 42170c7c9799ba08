import Glibc
import Support

/// One client that writes to one session, request by request, and the state that the session must have afterwards.
struct OneSession: Sendable {
    let token: String
    private(set) var start: SessionState
    private(set) var requests: [SentRequest] = []
    private(set) var writes = 0

    init(_ session: KnownSession) {
        token = session.token
        start = session.state
    }

    var acknowledged: Int {
        requests.count { if case .acknowledged = $0.outcome { true } else { false } }
    }

    /// Sends this many writes, of all kinds in turn. Ends early when the connection ends.
    mutating func write(_ count: Int, to port: UInt16) {
        guard let connection = try? Connection(port: port, token: token) else { return }
        for _ in 0..<count where !connection.isOver {
            writes += 1
            let actions: [SentRequest.Action] = [.put(.left, writes), .both(writes), .move(writes)]
            let action = actions[writes % actions.count]
            guard let outcome = try? connection.outcome(of: action) else { continue }
            let isOpen = outcome == .unknown
            requests.append(
                SentRequest(
                    client: 0, action: action, outcome: outcome, sentAt: 2 * writes,
                    answeredAt: isOpen ? .max : 2 * writes + 1))
        }
    }

    /// What is wrong with the session's current state; nil when nothing is.
    func violation(at port: UInt16) throws -> String? {
        let found = try Connection(port: port).state(token: token)
        return History(start: start, requests: requests, found: found).violation()
    }
}

/// Sessions that are created and ended one after another, and those that must exist afterwards.
struct ComingAndGoing: Sendable {
    private enum Fate: Sendable { case living, ended, unknown }

    private var sessions: [(token: String, fate: Fate)] = []

    /// Creates a session and ends the one before it.
    mutating func goOn(at port: UInt16) {
        guard let connection = try? Connection(port: port) else { return }
        if let last = sessions.indices.last, sessions[last].fate == .living {
            let status = try? connection.send("DELETE", Connection.Session.path, token: sessions[last].token).status
            sessions[last].fate = status == 204 ? .ended : .unknown
        }
        guard let created = try? connection.send("POST", "/v1/sessions"), created.status == 201,
            let token = created[member: "token"]?.string
        else { return }
        sessions.append((token, .living))
    }

    func violations(at port: UInt16) throws -> [String] {
        let connection = try Connection(port: port)
        return try sessions.enumerated().compactMap { number, session in
            let isThere = try connection.send("GET", Connection.Session.path, token: session.token).status == 200
            return switch session.fate {
            case .living where !isThere: "session \(number) was made, and is not there"
            case .ended where isThere: "session \(number) was ended, and is there again"
            default: nil
            }
        }
    }
}
