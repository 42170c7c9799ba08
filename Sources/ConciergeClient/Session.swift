import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A visitor's session on a Concierge server: its services and its journeys.
///
///     let session = try await Session.open(at: url, token: saved)
///     let profile = try await session.service("profile", of: Profile.self).get()
///
/// All functions may be called from anywhere, at any time.
public final class Session: Sendable {
    /// What the server says of a session.
    public struct Info: Decodable, Sendable {
        /// Not secret; opens nothing.
        public let id: String
        /// When it began.
        public let createdAt: Date
        /// When it ends if it is not used until then.
        public let idleExpiresAt: Date
        /// When it ends at the latest.
        public let expiresAt: Date
        /// Who has signed in.
        public let userID: String?
        /// As they were given when it was created.
        public let labels: [String: String]

        private enum CodingKeys: String, CodingKey {
            case id, labels
            case createdAt = "created_at"
            case idleExpiresAt = "idle_expires_at"
            case expiresAt = "expires_at"
            case userID = "user_id"
        }
    }

    /// Who has signed in.
    public struct User: Codable, Sendable, Hashable {
        /// `nil` when nobody has.
        public let id: String?
        /// Whether somebody has.
        public let authenticated: Bool
        /// What the back end says of the user.
        public let claims: [String: JSONValue]
    }

    private struct Created: Decodable {
        let session: Info
        let token: String
    }

    static let current = "v1/sessions/current"

    let transport: Transport
    let following: Locked<Following>
    private let seenUser = Locked(Live<User>.Seen())

    /// Is called with each new token.
    let save: @Sendable (String) -> Void

    private init(_ transport: Transport, token: String, save: @escaping @Sendable (String) -> Void) {
        self.transport = transport
        self.save = save
        following = Locked(Following(token: token))
    }

    deinit { transport.http.finishTasksAndInvalidate() }

    /// Resumes the session of a token that was saved; creates one if there is none or it has ended.
    ///
    /// - Parameters:
    ///   - url: the server, such as `https://concierge.example.org`.
    ///   - token: from `token`, saved where other people cannot read it, such as the keychain.
    ///   - labels: of a session that is created.
    ///   - language: see ``language``.
    ///   - configuration: for proxies, certificates and the like. The cache and cookies are switched off.
    ///   - save: gets each new token to be saved: of a session that is created, and after a sign-in.
    /// - Throws: `Problem`, and so does everything else here; `CancellationError` when the task is cancelled, and
    ///   `DecodingError` when what the server sends is not of your type.
    public static func open(
        at url: URL, token: String? = nil, labels: [String: String] = [:], language: String? = nil,
        configuration: URLSessionConfiguration = .ephemeral, save: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Session {
        if let token {
            do {
                return try await resume(
                    at: url, token: token, language: language, configuration: configuration, save: save)
            } catch let problem as Problem where problem.status == 401 {}
        }
        let transport = Transport(url: url, language: language, configuration: configuration)
        let labels = try JSONValue(encoding: ["labels": labels])
        do {
            let created: Created = try await transport.send("POST", "v1/sessions", token: nil, body: labels).decode()
            save(created.token)
            return Session(transport, token: created.token, save: save)
        } catch {
            // A session would do so at its end.
            transport.http.finishTasksAndInvalidate()
            throw error
        }
    }

    /// Resumes the session of a token, and creates none.
    ///
    /// - Throws: a `Problem` with status 401 when the session has ended.
    public static func resume(
        at url: URL, token: String, language: String? = nil,
        configuration: URLSessionConfiguration = .ephemeral, save: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Session {
        let transport = Transport(url: url, language: language, configuration: configuration)
        let session = Session(transport, token: token, save: save)
        _ = try await session.info()
        return session
    }

    /// What opens the session. A sign-in from a flow replaces it; set it when your back end hands over a new one.
    public var token: String {
        get { following.withLock(\.token) }
        set { replaceToken(by: newValue) }
    }

    /// Of the texts of flows, as in `Accept-Language`: `de`, or `de-AT, en;q=0.5`; `nil` leaves it to the system. When
    /// it is set, what is followed is read again.
    public var language: String? {
        get { transport.language.withLock(\.self) }
        set {
            transport.language.withLock { $0 = newValue }
            tell(Change())
        }
    }

    /// Whether the session has ended, as far as an answer has said so. Open another one.
    public var hasEnded: Bool { following.withLock(\.hasEnded) }

    /// Reads what the server says of the session.
    public func info() async throws -> Info { try await request("GET", Self.current).decode() }

    /// Ends the session, and removes all of its services and journeys.
    public func end() async throws {
        _ = try await request("DELETE", Self.current)
        finish()
    }

    /// The user who has signed in, by a flow, another client or a back end: a service that clients only read. Its value
    /// is shared: what one reader has read is what all see.
    ///
    ///     for try await user in session.user.values { greet(user.id) }
    public var user: Service<User> {
        Service(session: self, path: "\(Self.current)/services/user", seen: seenUser) { $0.service == "user" }
    }

    /// A service by its name. Nothing is sent before one of its functions is called.
    public func service<Document>(_ name: String, of type: Document.Type = Document.self) -> Service<Document> {
        Service(session: self, path: "\(Self.current)/services/\(name)") { change in
            change.service == name && change.type.hasPrefix("service.")
        }
    }

    /// A journey that exists; `main` always does when the server has a main flow.
    public func journey(_ id: String) -> Journey { Journey(session: self, id: id) }

    /// Starts a flow.
    ///
    /// - Parameters:
    ///   - input: what the flow takes.
    ///   - screen: where to begin, along a path that the server computes: a deep link.
    ///   - params: those of that screen's frame.
    ///   - resume: continues the journey of that flow that runs, if there is one.
    public func start(
        _ flow: String, input: JSONValue? = nil, at screen: String? = nil, params: JSONValue? = nil,
        resume: Bool = false
    ) async throws -> Journey {
        let body = JSONValue.object(given: [
            "flow": .string(flow), "input": input, "at": screen.map(JSONValue.string), "params": params,
            "resume": resume ? .bool(true) : nil,
        ])
        return try await begin(body)
    }

    /// Goes on here with a journey of another session, by a link that ``Journey/link(for:)`` has made.
    ///
    /// - Throws: a `Problem` with status 404 when the link cannot be used any more.
    public func take(link: String) async throws -> Journey { try await begin(["link": .string(link)]) }

    /// Goes on here with a journey of another session of the same user.
    public func take(journey: String, ofSession session: String) async throws -> Journey {
        try await begin(["take": ["session": .string(session), "journey": .string(journey)]])
    }

    private func begin(_ body: JSONValue) async throws -> Journey {
        let language = language
        let answer = try await request("POST", "\(Self.current)/journeys", body: body)
        let state: Journey.State = try answer.decode()
        let journey = journey(state.id)
        if language == self.language { journey.live.show(state, answer.etag) } else { try await journey.get() }
        return journey
    }

    /// - Parameter isWatching: the app has not asked for it, and a 401 is not yet the end.
    func request(
        _ method: String, _ path: String, body: JSONValue? = nil, fields: [String: String?] = [:],
        isWatching: Bool = false
    ) async throws -> Transport.Answer {
        let token = token
        let fields = fields.compactMapValues(\.self)
        do {
            return try await transport.send(method, path, token: token, body: body, fields: fields)
        } catch let problem as Problem where problem.status == 401 {
            if try await exchange(token) {
                return try await transport.send(method, path, token: self.token, body: body, fields: fields)
            }
            if isWatching { doubt(token) } else if token == self.token { finish() }
            throw problem
        }
    }
}
