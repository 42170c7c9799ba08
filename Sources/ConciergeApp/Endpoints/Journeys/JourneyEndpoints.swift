import HTTPServer
import JSONDocument
import Navigation
import Sessions

/// The journeys of a caller's session: API, section 5.
struct JourneyEndpoints: Sendable {
    let caller: SessionCaller
    /// Whether the events that a flow's `backend` names are accepted, too.
    var isFromBackend = false

    /// The place of `{id}` among the parameters of its routes.
    private static let idParameter = 1

    func add(to routes: inout RouterBuilder) {
        let journeys = "/v1/sessions/{session}/journeys"
        routes.on(.get, journeys, list)
        routes.on(.post, journeys, start)
        routes.on(.get, "\(journeys)/{id}", handler: caller.inPath.handler(show))
        routes.on(.put, "\(journeys)/{id}", restart)
        routes.on(.delete, "\(journeys)/{id}", abandon)
        routes.on(.post, "\(journeys)/{id}/events", handler: caller.inPath.handler(send))
        routes.on(.post, "\(journeys)/{id}/navigation", navigate)
    }

    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let page = try PageRequest(request)
        return .page(try ListPage(of: try await session.journeys(), page, named: \.text.journey)) {
            $0.raw(Problem.shown($1.text))
        }
    }

    private func start(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let body = try JourneyBody(request, known: ["flow", "version", "input", "at", "resume"])
        guard let flow = try body.text("flow") else { throw JourneyBody.missing("flow") }
        let (shown, isNew) = try await session.startJourney(
            flow: flow, version: try body.number("version"), input: body["input"], at: try body.text("at"),
            resumes: try body.flag("resume"))
        return isNew ? created(shown, in: session) : .state(.ok, shown.text.bytes, shown.text.etag)
    }

    @Sendable private func show(_ request: HTTPRequest, _ session: Session) throws -> HTTPOutcome {
        var shown: JourneyText?
        request.lendParameter(Self.idParameter) { shown = session.shownJourney($0) }
        if let shown = try shown ?? session.residentText(of: id(of: request)) {
            return .response(try answer(request, shown))
        }
        return .task { .response(try answer(request, try await session.journey(id(of: request)).text)) }
    }

    private func restart(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let body = try JourneyBody(request, known: ["flow", "input"], isOptional: true)
        let (shown, isNew) = try await session.restartJourney(
            id(of: request), flow: try body.text("flow"), input: body["input"],
            condition: try Conditions.ofWrite(request))
        return isNew ? created(shown, in: session) : moved(request, shown.text)
    }

    private func abandon(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        try await session.abandonJourney(id(of: request), condition: try Conditions.ofWrite(request))
        return .done
    }

    @Sendable func send(_ request: HTTPRequest, _ session: Session) throws -> HTTPOutcome {
        let (event, data, step) = try event(of: request)
        let condition = try Self.condition(of: request, step)
        return .deferred { responder in
            session.send(
                event, data: data, toJourney: id(of: request), condition: condition,
                isFromBackend: isFromBackend,
                then: responder.completion { text in
                    do {
                        return moved(request, try text.get())
                    } catch {
                        throw explained(error, request, session)
                    }
                })
        }
    }

    private func navigate(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let body = try JourneyBody(request, known: ["to"])
        guard let screen = try body.text("to") else { throw JourneyBody.missing("to") }
        let condition = try Conditions.ofWrite(request)
        let shown: ShownJourney
        let path: [String]
        do {
            (shown, path) = try await session.navigate(journey: id(of: request), to: screen, condition: condition)
        } catch {
            throw explained(error, request, session)
        }
        var json = JSONWriter(reservingCapacity: 1_024)
        // The view with one more member at its end.
        json.raw(shown.text.bytes.dropLast())
        json.name("path")
        json.beginArray()
        for screen in path { json.string(screen) }
        json.endArray()
        json.endObject()
        return request.minimized(.state(.ok, json.bytes, shown.text.etag))
    }

    private static func condition(of request: HTTPRequest, _ step: Int?) throws(Problem) -> WriteCondition {
        var condition = try Conditions.ofWrite(request)
        if let step { condition.step = UInt64(step) }
        return condition
    }

    private func event(of request: HTTPRequest) throws -> (name: String, data: JSONDocument?, step: Int?) {
        let body = try JourneyBody(request, known: ["event", "data", "step"])
        guard let event = try body.text("event") else { throw JourneyBody.missing("event") }
        return (event, body["data"], try body.number("step"))
    }

    private func answer(_ request: HTTPRequest, _ text: JourneyText) throws -> HTTPResponse {
        try Conditions.checkRead(request, journey: text.etag)
        return .state(
            try Conditions.isNotModified(request, text.etag) ? .notModified : .ok, Problem.shown(text), text.etag)
    }

    private func moved(_ request: HTTPRequest, _ text: JourneyText) -> HTTPResponse {
        request.minimized(.state(.ok, text.bytes, text.etag))
    }

    private func created(_ shown: ShownJourney, in session: Session) -> HTTPResponse {
        var response = HTTPResponse.state(.created, shown.text.bytes, shown.text.etag)
        response.fields.add(.location, "/v1/sessions/\(session.id)/journeys/\(shown.text.journey)")
        return response
    }

    /// Says of a journey that is over what its flow has to be given to start again; other errors stay as they are.
    private func explained(_ error: any Error, _ request: HTTPRequest, _ session: Session) -> any Error {
        guard let refusal = error as? JourneyRefusal else { return error }
        switch refusal {
        case .finished, .expired, .orphaned:
            return Problem(
                refusal, ofJourneyAt: request.journeyPath, neededInput: session.inputNeeded(toRestart: id(of: request)))
        default: return error
        }
    }

    private func id(of request: HTTPRequest) -> String { request.parameter("id") }
}
