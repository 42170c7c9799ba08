import HTTPServer
import JSONDocument
import Navigation
import Sessions

/// The journeys of a caller's session: API, section 5.
struct JourneyEndpoints: Sendable {
    let caller: SessionCaller
    let dressing: JourneyDressing
    /// Whether the events that a flow's `backend` names are accepted, too.
    var isFromBackend = false

    /// The place of `{id}` among the parameters of its routes.
    private static let idParameter = 1

    func add(to routes: inout RouterBuilder) {
        let journeys = "/v1/sessions/{session}/journeys"
        routes.on(.get, journeys, list)
        routes.on(.post, journeys, start)
        routes.on(.get, "\(journeys)/{id}", handler: caller.inPath.patientHandler(show))
        routes.on(.put, "\(journeys)/{id}", restart)
        routes.on(.delete, "\(journeys)/{id}", abandon)
        routes.on(.post, "\(journeys)/{id}/events", handler: caller.inPath.handler(send))
        routes.on(.post, "\(journeys)/{id}/navigation", navigate)
    }

    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let page = try PageRequest(request)
        var response = HTTPResponse.page(try ListPage(of: try await session.journeys(), page, named: \.text.journey)) {
            let view = Problem.shown($1.text)
            $0.raw(dressing.translates ? dressing.dress(view, for: request).view : view)
        }
        if dressing.translates { response.fields.add(.vary, HTTPFieldName.acceptLanguage.text) }
        return response
    }

    private func start(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let body = try JourneyBody(request, known: ["flow", "version", "input", "at", "resume"])
        guard let flow = try body.text("flow") else { throw JourneyBody.missing("flow") }
        let (version, screen, resumes) = (try body.number("version"), try body.text("at"), try body.flag("resume"))
        do {
            let (shown, isNew) = try await session.startJourney(
                flow: flow, version: version, input: body["input"], at: screen, resumes: resumes)
            return isNew
                ? created(request, shown, in: session)
                : dressing.dress(.state(.ok, shown.text.bytes, shown.text.etag), for: request)
        } catch let refusal as JourneyRefusal where dressing.translates {
            throw dressing.dress(Problem(refusal, ofJourneyAt: nil), ofFlow: flow, for: request)
        }
    }

    @Sendable private func show(_ request: HTTPRequest, _ session: Session) throws -> HTTPOutcome {
        let includesSchemas = try Self.includesSchemas(request)
        if let wait = ChangeWait(request) {
            return .task {
                let token = try caller.presentedToken(of: request).digest
                return .response(
                    try await wait.respond(session, token: token) {
                        let form = includesSchemas ? try await session.journeyForm(id(of: request)) : nil
                        let text = if let form { form.text } else { try await session.journey(id(of: request)).text }
                        return ChangeWait.Look(
                            response: try answer(request, text, schemas: form?.schemas),
                            isKnown: try Conditions.isNotModified(request, text.etag), dueAt: text.dueAt)
                    })
            }
        }
        if includesSchemas {
            return .task {
                let form = try await session.journeyForm(id(of: request))
                return .response(try counted(request, form.text, schemas: form.schemas, in: session))
            }
        }
        var shown: JourneyText?
        request.withParameter(Self.idParameter) { shown = session.shownJourney($0) }
        if let shown = try shown ?? session.residentText(of: id(of: request)) {
            return .response(try counted(request, shown, in: session))
        }
        return .task {
            .response(try counted(request, try await session.journey(id(of: request)).text, in: session))
        }
    }

    /// The response. If it is new to a client that named what it knows, it is a use of the session.
    private func counted(
        _ request: HTTPRequest, _ text: JourneyText, schemas: [String: JSONDocument]? = nil, in session: Session
    ) throws -> HTTPResponse {
        let response = try answer(request, text, schemas: schemas)
        if response.status != .notModified, request.fields.contains(.ifNoneMatch) {
            caller.sessions.noteUse(of: session)
        }
        return response
    }

    private func restart(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        let body = try JourneyBody(request, known: ["flow", "input"], isOptional: true)
        let (shown, isNew) = try await session.restartJourney(
            id(of: request), flow: try body.text("flow"), input: body["input"],
            condition: try Conditions.ofWrite(request))
        return isNew ? created(request, shown, in: session) : moved(request, shown.text)
    }

    private func abandon(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await caller.sessionInPath(of: request)
        try await session.abandonJourney(id(of: request), condition: try Conditions.ofWrite(request))
        return .done
    }

    @Sendable func send(_ request: HTTPRequest, _ session: Session) throws -> HTTPOutcome {
        let (event, data, step) = try event(of: request)
        let condition = try Self.condition(of: request, step)
        if try Self.includesSchemas(request) {
            return .deferred { responder in
                session.sendForForm(
                    event, data: data, toJourney: id(of: request), condition: condition, isFromBackend: isFromBackend,
                    then: responder.completion { form in
                        do {
                            let form = try form.get()
                            return moved(request, form.text, schemas: form.schemas)
                        } catch {
                            throw explained(error, request, session)
                        }
                    })
            }
        }
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
        return request.minimized(dressing.dress(.state(.ok, json.bytes, shown.text.etag), for: request))
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

    private static func includesSchemas(_ request: HTTPRequest) throws -> Bool {
        guard request.hasQuery else { return false }
        var query = try QueryReader(request)
        let included: JourneyInclusion? = query.choice(.include)
        try query.check()
        return included == .schema
    }

    private func answer(
        _ request: HTTPRequest, _ text: JourneyText, schemas: [String: JSONDocument]? = nil
    ) throws -> HTTPResponse {
        try Conditions.checkRead(request, journey: text.etag)
        // The entity tag is the same in all languages, so it does not say which one the client has.
        let isKnown = try Conditions.isNotModified(request, text.etag) && !dressing.varies(text.bytes)
        return dressing.dress(
            .state(isKnown ? .notModified : .ok, Problem.shown(text), text.etag), for: request, schemas: schemas)
    }

    private func moved(
        _ request: HTTPRequest, _ text: JourneyText, schemas: [String: JSONDocument]? = nil
    ) -> HTTPResponse {
        request.minimized(dressing.dress(.state(.ok, text.bytes, text.etag), for: request, schemas: schemas))
    }

    private func created(_ request: HTTPRequest, _ shown: ShownJourney, in session: Session) -> HTTPResponse {
        var response = dressing.dress(.state(.created, shown.text.bytes, shown.text.etag), for: request)
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
        default:
            guard dressing.translates, let view = try? session.residentText(of: id(of: request)) else { return error }
            return dressing.dress(Problem(refusal, ofJourneyAt: request.journeyPath), about: view.bytes, for: request)
        }
    }

    private func id(of request: HTTPRequest) -> String { request.parameter("id") }
}

/// What `include` may name.
enum JourneyInclusion: String, CaseIterable {
    case schema
}
