import HTTPTestClient
import JSONDocument
import Support

/// A client of these tests, with a connection of its own. Its calls block.
final class Connection {
    enum Session {
        static let path = "/v1/sessions/current"

        static func service(_ service: SessionState.Service) -> String { "\(path)/services/\(service.name)" }
    }

    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    /// A request got no response, so no later one will.
    private(set) var isOver = false
    /// The token of the session; a new one after a rotation.
    private(set) var token: String?
    /// The one before.
    private(set) var formerToken: String?
    private let client: TestClient
    private let raw: RawConnection
    /// A connection to the admin listener, and the session that its requests are about.
    let admin: (raw: RawConnection, session: String)?

    /// - Throws: when no server listens there.
    init(port: UInt16, token: String? = nil, admin: (port: UInt16, session: String)? = nil) throws {
        client = TestClient(port: port)
        raw = try RawConnection(port: port, timeoutSeconds: 30)
        self.admin = try admin.map { (try RawConnection(port: $0.port, timeoutSeconds: 30), $0.session) }
        self.token = token
    }

    /// - Throws: when the connection ends before the response.
    func send(_ method: String, _ path: String, _ json: String? = nil, token: String? = nil) throws -> TestResponse {
        try sendOnly(method, path, json, token: token)
        return try raw.readResponse()
    }

    /// Sends a request without a token over another connection.
    func send(_ method: String, _ path: String, _ json: String? = nil, on raw: RawConnection?) throws -> TestResponse {
        guard let raw else { throw Unexpected(description: "\(method) \(path) is for admins") }
        try raw.send(client.request(method, path, json: json))
        return try raw.readResponse()
    }

    /// Sends a request without waiting for the response.
    func sendOnly(_ method: String, _ path: String, _ json: String? = nil, token: String? = nil) throws {
        let client = (token ?? self.token).map { self.client.with(token: $0) } ?? self.client
        try raw.send(client.request(method, path, json: json))
    }

    /// Creates a session, and begins its journey.
    func newSession() throws -> KnownSession {
        let created = try send("POST", "/v1/sessions")
        guard created.status == 201, let token = created[member: "token"]?.string,
            let id = created[member: "session"]?[string: "id"]
        else { throw unexpected(created) }
        return KnownSession(id: id, token: token, state: try state(token: token))
    }

    /// Reads everything that the model knows.
    func state(token: String? = nil) throws -> SessionState {
        var state = SessionState()
        // The first request begins the journey, which takes a revision.
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

    /// Does an action, and returns its outcome.
    /// - Throws: ``Unexpected`` for a response that is never right.
    func outcome(of action: SentRequest.Action) throws -> SentRequest.Outcome {
        guard let answer = try? response(to: action) else {
            isOver = true
            return .unknown
        }
        switch answer.status {
        case 401: return action == .reuse ? .acknowledged(nil) : .sessionEnded
        // The response to admins.
        case 404: return .sessionEnded
        // Refused, but a disk that failed may have kept the write.
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

    /// The number of the write that attached a user; 0 for no user.
    private static func number(ofUser id: JSONDocument) -> Int { id.string.flatMap { Int($0.dropFirst(2)) } ?? 0 }

    /// The number in an entity tag.
    private func tag(_ text: String?) -> Int? { text.flatMap { Int($0.filter { $0 != "\"" }) } }

    func unexpected(_ answer: TestResponse) -> Unexpected {
        Unexpected(description: "unexpected answer: \(answer.status) \(answer.text)")
    }
}

/// The requests of clients and admins.
extension Connection {
    /// - Throws: as ``send(_:_:_:token:)``.
    func response(to action: SentRequest.Action) throws -> TestResponse {
        switch action {
        case .read(let service): try send("GET", Session.service(service))
        case .put(.user, let number):
            try sendAsAdmin("PUT", "services/user", #"{"id":"u-\#(number)","authenticated":true,"claims":{}}"#)
        case .put(let service, let number): try send("PUT", Session.service(service), #"{"n":\#(number)}"#)
        case .both(let number):
            try send(
                "POST", "\(Session.path)/transactions",
                #"{"operations":[{"op":"put","service":"left","value":{"n":\#(number)}},"#
                    + #"{"op":"put","service":"right","value":{"n":\#(number)}}]}"#)
        case .move(let number):
            try send("POST", "\(Session.path)/journeys/main/events", #"{"event":"move","data":{"n":\#(number)}}"#)
        case .end: try send("DELETE", Session.path)
        case .rotate: try send("POST", "\(Session.path)/tokens")
        case .reuse: try send("GET", Session.path, token: formerToken)
        case .endOfUser(let number): try send("DELETE", "/v1/users/u-\(number)/sessions", on: admin?.raw)
        }
    }

    private func sendAsAdmin(_ method: String, _ path: String, _ json: String) throws -> TestResponse {
        try send(method, "/v1/sessions/\(admin?.session ?? "")/\(path)", json, on: admin?.raw)
    }
}

/// What clients know about a session.
struct KnownSession: Sendable {
    let id: String
    var token: String
    var state: SessionState
}
