import HTTPTestClient
import JSONDocument
import Support

/// Does what clients of these tests do, over a connection of its own. Blocks.
final class Connection {
    enum Session {
        static let path = "/v1/sessions/current"

        static func service(_ service: SessionState.Service) -> String { "\(path)/services/\(service.name)" }
    }

    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    /// A request got no answer: no further one will.
    private(set) var isOver = false
    /// Of the session that requests are about; a fresh one after a rotation.
    private(set) var token: String?
    /// The one before.
    private(set) var formerToken: String?
    private let client: TestClient
    private let raw: RawConnection
    /// To the admin listener, and the session that is meant there.
    let admin: (raw: RawConnection, session: String)?

    /// - Throws: when nobody listens there.
    init(port: UInt16, token: String? = nil, admin: (port: UInt16, session: String)? = nil) throws {
        client = TestClient(port: port)
        raw = try RawConnection(port: port, timeoutSeconds: 30)
        self.admin = try admin.map { (try RawConnection(port: $0.port, timeoutSeconds: 30), $0.session) }
        self.token = token
    }

    /// - Throws: when the connection ends before the answer has come.
    func send(_ method: String, _ path: String, _ json: String? = nil, token: String? = nil) throws -> TestResponse {
        try sendOnly(method, path, json, token: token)
        return try raw.readResponse()
    }

    /// Without a token, over another connection.
    func send(_ method: String, _ path: String, _ json: String? = nil, on raw: RawConnection?) throws -> TestResponse {
        guard let raw else { throw Unexpected(description: "\(method) \(path) is for admins") }
        try raw.send(client.request(method, path, json: json))
        return try raw.readResponse()
    }

    /// Without waiting for the answer.
    func sendOnly(_ method: String, _ path: String, _ json: String? = nil, token: String? = nil) throws {
        let client = (token ?? self.token).map { self.client.with(token: $0) } ?? self.client
        try raw.send(client.request(method, path, json: json))
    }

    /// A new session, which has begun its journey.
    func newSession() throws -> KnownSession {
        let created = try send("POST", "/v1/sessions")
        guard created.status == 201, let token = created[member: "token"]?.string,
            let id = created[member: "session"]?[string: "id"]
        else { throw unexpected(created) }
        return KnownSession(id: id, token: token, state: try state(token: token))
    }

    /// Asks for everything that the model knows of.
    func state(token: String? = nil) throws -> SessionState {
        var state = SessionState()
        // Begins the journey when it is first asked for, and makes a revision of that.
        let journey = try send("GET", "\(Session.path)/journeys/main", token: token)
        if journey.status == 401 {
            state.isEnded = true
            return state
        }
        (state.step, state.isThere) = try step(journey)
        for service in SessionState.Service.allCases {
            state[service] = try content(try send("GET", Session.service(service), token: token))
        }
        let session = try send("GET", Session.path, token: token)
        guard let revision = session[member: "revision"]?.int else { throw unexpected(session) }
        state.revision = revision
        return state
    }

    /// The step of a journey, and whether it is `there`.
    private func step(_ journey: TestResponse) throws -> (Int, isThere: Bool) {
        guard let step = journey[member: "step"]?.int, journey[member: "status"]?.string == "active",
            let state = journey[member: "coordinators"]?[string: "state"], ["here", "there"].contains(state)
        else { throw unexpected(journey) }
        return (step, state == "there")
    }

    /// Does it, and says what came of it.
    /// - Throws: ``Unexpected`` for an answer that no server should give to this.
    func outcome(of action: SentRequest.Action) throws -> SentRequest.Outcome {
        guard let answer = try? response(to: action) else {
            isOver = true
            return .unknown
        }
        switch answer.status {
        case 401: return action == .reuse ? .acknowledged(nil) : .sessionEnded
        // What admins are told.
        case 404: return .sessionEnded
        // Refused, but a disk that failed may have kept it all the same.
        case 503, 507: return .unknown
        case 200, 201, 204: break
        default: throw unexpected(answer)
        }
        switch action {
        case .read: return .shown(try content(answer))
        case .put: return .acknowledged(tag(answer["ETag"]))
        case .move: return .acknowledged(try step(answer).0)
        case .both:
            let tags = Set((answer[member: "results"]?.elements ?? []).map { tag($0[string: "etag"]) })
            guard tags.count == 1, let first = tags.first else { throw unexpected(answer) }
            return .acknowledged(first)
        case .end: return .acknowledged(nil)
        case .rotate:
            guard let fresh = answer[member: "token"]?.string else { throw unexpected(answer) }
            (formerToken, token) = (token, fresh)
            return .acknowledged(nil)
        case .reuse: throw unexpected(answer)
        case .endOfUser: return answer[member: "count"]?.int == 1 ? .acknowledged(nil) : .sessionEnded
        }
    }

    private func content(_ answer: TestResponse) throws -> SessionState.Content {
        let number = answer[member: "n"]?.int ?? answer[member: "id"].map(Self.number(ofUser:))
        guard answer.status == 200, let number else { throw unexpected(answer) }
        return SessionState.Content(write: number, etag: tag(answer["ETag"]))
    }

    /// The number of the write that attached a user; 0 for nobody.
    private static func number(ofUser id: JSONDocument) -> Int { id.string.flatMap { Int($0.dropFirst(2)) } ?? 0 }

    /// The number in an entity tag.
    private func tag(_ text: String?) -> Int? { text.flatMap { Int($0.filter { $0 != "\"" }) } }

    func unexpected(_ answer: TestResponse) -> Unexpected {
        Unexpected(description: "unexpected answer: \(answer.status) \(answer.text)")
    }
}
