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
    private let raw: RawConnection
    private let client: TestClient

    /// - Throws: when nobody listens there.
    init(port: UInt16, token: String? = nil) throws {
        raw = try RawConnection(port: port, timeoutSeconds: 30)
        client = token.map { TestClient(port: port).with(token: $0) } ?? TestClient(port: port)
    }

    /// - Throws: when the connection ends before the answer has come.
    func send(_ method: String, _ path: String, _ json: String? = nil, token: String? = nil) throws -> TestResponse {
        let client = token.map { self.client.with(token: $0) } ?? self.client
        try raw.send(client.request(method, path, json: json))
        return try raw.readResponse()
    }

    /// A new session, which has begun its journey: its token and its state.
    func newSession() throws -> (token: String, state: SessionState) {
        let created = try send("POST", "/v1/sessions")
        guard created.status == 201, let token = created[member: "token"]?.string else { throw unexpected(created) }
        return (token, try state(token: token))
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
        guard let step = journey[member: "step"]?.int else { throw unexpected(journey) }
        state.step = step
        for service in SessionState.Service.allCases {
            state[service] = try content(try send("GET", Session.service(service), token: token))
        }
        let session = try send("GET", Session.path, token: token)
        guard let revision = session[member: "revision"]?.int else { throw unexpected(session) }
        state.revision = revision
        return state
    }

    /// Does it, and says what came of it.
    /// - Throws: ``Unexpected`` for an answer that no server should give to this.
    func outcome(of action: SentRequest.Action) throws -> SentRequest.Outcome {
        guard let answer = try? response(to: action) else {
            isOver = true
            return .unknown
        }
        switch answer.status {
        case 401: return .sessionEnded
        // Refused, but a disk that failed may have kept it all the same.
        case 503, 507: return .unknown
        case 200, 204: break
        default: throw unexpected(answer)
        }
        switch action {
        case .read: return .shown(try content(answer))
        case .put, .move: return .acknowledged(tag(answer["ETag"]))
        case .both:
            let tags = Set((answer[member: "results"]?.elements ?? []).map { tag($0[string: "etag"]) })
            guard tags.count == 1, let first = tags.first else { throw unexpected(answer) }
            return .acknowledged(first)
        case .end: return .acknowledged(nil)
        }
    }

    func response(to action: SentRequest.Action) throws -> TestResponse {
        switch action {
        case .read(let service): try send("GET", Session.service(service))
        case .put(let service, let number): try send("PUT", Session.service(service), #"{"n":\#(number)}"#)
        case .both(let number):
            try send(
                "POST", "\(Session.path)/transactions",
                #"{"operations":[{"op":"put","service":"left","value":{"n":\#(number)}},"#
                    + #"{"op":"put","service":"right","value":{"n":\#(number)}}]}"#)
        case .move(let number):
            try send("POST", "\(Session.path)/journeys/main/events", #"{"event":"move","data":{"n":\#(number)}}"#)
        case .end: try send("DELETE", Session.path)
        }
    }

    private func content(_ answer: TestResponse) throws -> SessionState.Content {
        guard answer.status == 200, let number = answer[member: "n"]?.int else { throw unexpected(answer) }
        return SessionState.Content(write: number, etag: tag(answer["ETag"]))
    }

    /// The number in an entity tag.
    private func tag(_ text: String?) -> Int? { text.flatMap { Int($0.filter { $0 != "\"" }) } }

    private func unexpected(_ answer: TestResponse) -> Unexpected {
        Unexpected(description: "unexpected answer: \(answer.status) \(answer.text)")
    }
}
