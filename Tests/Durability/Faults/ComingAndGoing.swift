import Support

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
