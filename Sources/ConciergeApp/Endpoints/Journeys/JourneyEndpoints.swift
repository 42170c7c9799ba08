import HTTPServer
import JSONDocument
import Navigation
import Sessions

/// The journeys of a caller's session: API, section 5.
struct JourneyEndpoints: Sendable {
    let caller: SessionCaller
    let views = JourneyViewCache()
    /// Flows whose guards look at the time: what they show may change at any moment, so that it is not kept.
    let restless: Set<String>
    /// Whether writes may be done without waiting: `Sessions.writesAtOnce`.
    let writesAtOnce: Bool

    /// The place of `{id}` among the parameters of its routes.
    private static let idParameter = 1

    func add(to routes: inout RouterBuilder) {
        let journeys = "/v1/sessions/{session}/journeys"
        routes.on(.get, journeys, list)
        routes.on(.post, journeys, start)
        routes.on(.get, "\(journeys)/{id}", promptly: showPromptly, show)
        routes.on(.put, "\(journeys)/{id}", restart)
        routes.on(.delete, "\(journeys)/{id}", abandon)
        routes.on(.post, "\(journeys)/{id}/events", promptly: writesAtOnce ? sendPromptly : nil, send)
        routes.on(.post, "\(journeys)/{id}/navigation", navigate)
    }

    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let page = try PageRequest(request)
        return .page(try ListPage(of: try await session.journeys(), page, named: \.view.id)) {
            $1.view.write(to: &$0)
        }
    }

    private func start(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let body = try JourneyBody(request, known: ["flow", "version", "input", "at"])
        guard let flow = try body.text("flow") else { throw JourneyBody.missing("flow") }
        let shown = try await session.startJourney(
            flow: flow, version: try body.number("version"), input: body["input"], at: try body.text("at"))
        return created(shown, in: session)
    }

    private func show(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        return try answer(request, keep(try await session.journey(id(of: request)), in: session))
    }

    private func showPromptly(_ request: HTTPRequest) throws -> HTTPResponse? {
        guard let session = try caller.residentSessionInPath(of: request) else { return nil }
        if let view = views.view(of: request.parameterBytes(Self.idParameter), in: session) {
            return try answer(request, view)
        }
        guard let shown = try session.residentJourney(id(of: request)) else { return nil }
        return try answer(request, keep(shown, in: session))
    }

    private func restart(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let body = try JourneyBody(request, known: ["flow", "input"], isOptional: true)
        let (shown, isNew) = try await session.restartJourney(
            id(of: request), flow: try body.text("flow"), input: body["input"],
            condition: try Conditions.ofWrite(request))
        return isNew ? created(shown, in: session) : moved(request, shown, in: session)
    }

    private func abandon(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        try await session.abandonJourney(id(of: request), condition: try Conditions.ofWrite(request))
        return .done
    }

    private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let (event, data) = try event(of: request)
        let condition = try Conditions.ofWrite(request)
        do {
            let shown = try await session.send(event, data: data, toJourney: id(of: request), condition: condition)
            return moved(request, shown, in: session)
        } catch {
            throw explained(error, request, session)
        }
    }

    private func sendPromptly(_ request: HTTPRequest) throws -> HTTPResponse? {
        guard let session = try caller.residentSessionInPath(of: request) else { return nil }
        let (event, data) = try event(of: request)
        let condition = try Conditions.ofWrite(request)
        do {
            return try session.sendAtOnce(event, data: data, toJourney: id(of: request), condition: condition)
                .map { moved(request, $0, in: session) }
        } catch {
            throw explained(error, request, session)
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
        // What is given out here counts among the forms that the journey had at its step.
        _ = keep(shown, in: session)
        var json = JSONWriter(reservingCapacity: 1_024)
        shown.view.write(to: &json) { json in
            json.name("path")
            json.beginArray()
            for screen in path { json.string(screen) }
            json.endArray()
        }
        return request.minimized(.journey(.ok, json.bytes, ServiceETag(revision: shown.view.step)))
    }

    private func event(of request: HTTPRequest) throws(Problem) -> (name: String, data: JSONDocument?) {
        let body = try JourneyBody(request, known: ["event", "data"])
        guard let event = try body.text("event") else { throw JourneyBody.missing("event") }
        return (event, body["data"])
    }

    private func answer(_ request: HTTPRequest, _ view: RenderedJourney) throws -> HTTPResponse {
        try Conditions.checkRead(request, journey: view.etag)
        let isKnown = try Conditions.isNotModified(request, view.etag) && view.isOnlyFormOfStep
        return isKnown ? .journey(.notModified, [], view.etag) : .journey(.ok, view.bytes, view.etag)
    }

    private func moved(_ request: HTTPRequest, _ shown: ShownJourney, in session: Session) -> HTTPResponse {
        // Nearly everybody looks at it next.
        let view = keep(shown, in: session)
        return request.minimized(.journey(.ok, view.bytes, view.etag))
    }

    private func created(_ shown: ShownJourney, in session: Session) -> HTTPResponse {
        let view = keep(shown, in: session)
        var response = HTTPResponse.journey(.created, view.bytes, view.etag)
        response.fields.add(.location, "/v1/sessions/\(session.id)/journeys/\(shown.view.id)")
        return response
    }

    private func keep(_ shown: ShownJourney, in session: Session) -> RenderedJourney {
        let isRestless = isRestless(shown)
        let view = RenderedJourney(shown, isRestless: isRestless)
        return isRestless ? view : views.keep(view, of: ArraySlice(shown.view.id.utf8), in: session)
    }

    /// The stack does not tell: a flow may have events and no screen, while its child has all of them.
    private func isRestless(_ shown: ShownJourney) -> Bool {
        !restless.isEmpty && shown.view.coordinators?.runs(oneOf: restless) == true
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

extension CoordinatorView {
    fileprivate func runs(oneOf flows: Set<String>) -> Bool {
        flows.contains(flow) || children.contains { $0.runs(oneOf: flows) }
    }
}
