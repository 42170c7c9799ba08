import API
import HTTPServer
import JSONDocument
import Navigation
import Sessions

/// The journeys of a caller's session: API, section 5. On the admin listener, those of any session. A class, because
/// each request keeps it until its response.
final class JourneyEndpoints: Sendable {
    let caller: SessionCaller
    /// The session that the path names.
    private let session: SessionFinder
    let dressing: JourneyDressing
    private let listener: APIListener
    private let eventNames: Set<String>

    init(caller: SessionCaller, session: SessionFinder, flows: FlowCatalog, on listener: APIListener) {
        self.caller = caller
        self.session = session
        dressing = JourneyDressing(flows)
        self.listener = listener
        eventNames = flows.eventNames
    }

    /// The place of `{id}` among the parameters of its routes.
    private static let idParameter = 1

    static let path = "/v1/sessions/{session}/journeys"

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, Self.path, handler: session.task(list))
        routes.on(.post, Self.path, handler: session.task(start))
        routes.on(.get, "\(Self.path)/{id}", handler: session.handler(show))
        routes.on(.post, "\(Self.path)/{id}/links", handler: session.task(makeLink))
        addSteps(to: &routes)
    }

    /// What makes a journey move, on both listeners.
    func addSteps(to routes: inout RouterBuilder) {
        routes.on(.put, "\(Self.path)/{id}", handler: session.task(restart))
        routes.on(.delete, "\(Self.path)/{id}", handler: session.task(abandon))
        routes.on(.post, "\(Self.path)/{id}/events", handler: session.writer(send))
        routes.on(.post, "\(Self.path)/{id}/navigation", handler: session.task(navigate))
    }

    /// Of all but events.
    private var actor: JourneyActor { listener == .admin ? .admin : .client }

    @Sendable private func list(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        let session = found.session
        var query = try QueryReader(request)
        let included: JourneyInclusion? = query.choice(.include)
        if let of: JourneyOwner = query.choice(.of), of == .user {
            return try await listOfUser(request, &query, included, session)
        }
        let page = try ListPage(of: try await session.journeys(), try PageRequest(&query), named: \.journey)
        var forms: [String: JourneyForm] = [:]
        if included == .schema {
            // One budget for all.
            var work = EventSchemas.mostWork
            for shown in page.items {
                guard let form = try? await session.journeyForm(shown.journey, work: work) else { continue }
                forms[shown.journey] = form
                work = form.schemas.work
            }
        }
        var response = HTTPResponse.page(page) {
            let form = forms[$1.journey]
            let text = form?.text ?? $1
            let view = Problem.shown(text, under: request.basePath)
            $0.raw(dressing.dress(view, of: text, for: request, schemas: form?.schemas).view)
        }
        if dressing.translates { response.fields.add(.vary, HTTPFieldName.acceptLanguage.text) }
        return response
    }

    @Sendable private func start(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        let session = found.session
        let body = try BodyMembers(
            request, known: ["flow", "version", "input", "at", "params", "resume", "link", "take"])
        if let move = try JourneyMove(body) { return try await take(move, request, session) }
        guard let flow = try body.text("flow") else { throw BodyMembers.missing("flow") }
        let includesSchemas = try Self.includesSchemas(request)
        let (version, screen, resumes) = (try body.number("version"), try body.text("at"), try body.flag("resume"))
        let params = try Self.params(of: body)
        if params != nil, screen == nil { throw BodyMembers.refusal("params", "must be left out without at") }
        do {
            let response = begun(request, in: session)
            return try response.of(
                await session.startJourney(
                    flow: flow, version: version, input: body["input"], at: screen, params: params,
                    resumes: resumes, withSchemas: includesSchemas, once: response.once))
        } catch let refusal as JourneyRefusal where dressing.translates {
            throw dressing.problem(refusal, ofFlow: flow, for: request)
        }
    }

    @Sendable private func show(_ request: HTTPRequest, _ found: FoundSession) throws -> HTTPOutcome {
        let session = found.session
        let includesSchemas = try Self.includesSchemas(request)
        if let wait = ChangeWait(request) {
            return .task { [self] in
                .response(
                    try await wait.respond(found) {
                        let form = includesSchemas ? try await session.journeyForm(id(of: request)) : nil
                        let text = if let form { form.text } else { try await session.journey(id(of: request)) }
                        return ChangeWait.Look(
                            response: try answer(request, text, schemas: form?.schemas), dueAt: text.dueAt)
                    })
            }
        }
        if includesSchemas {
            return .task { [self] in
                let form = try await session.journeyForm(id(of: request))
                return .response(try counted(request, form.text, schemas: form.schemas, in: session))
            }
        }
        var shown: JourneyText?
        request.withParameter(Self.idParameter) { shown = session.shownJourney($0) }
        if shown == nil, !session.isLarge { shown = try session.residentJourney(id(of: request)) }
        if let shown {
            return .response(try counted(request, shown, in: session))
        }
        return .task { [self] in
            .response(try counted(request, try await session.journey(id(of: request)), in: session))
        }
    }

    private func counted(
        _ request: HTTPRequest, _ text: JourneyText, schemas: EventSchemas? = nil, in session: Session
    ) throws -> HTTPResponse {
        let response = try answer(request, text, schemas: schemas)
        if response.isNews(to: request) { caller.sessions.noteUse(of: session) }
        return response
    }

    @Sendable private func restart(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        let session = found.session
        let body = try BodyMembers(request, known: ["flow", "input"], isOptional: true)
        let includesSchemas = try Self.includesSchemas(request)
        let response = begun(request, in: session)
        return try response.of(
            await session.restartJourney(
                id(of: request), flow: try body.text("flow"), input: body["input"],
                condition: try Conditions.ofWrite(request, ofJourney: true), by: actor, withSchemas: includesSchemas,
                once: response.once))
    }

    /// The response with a journey that was started, or started over.
    private func begun(_ request: HTTPRequest, in session: Session) -> UnitResponse<(JourneyForm, isNew: Bool)> {
        UnitResponse(to: request) { [self] form, isNew in
            isNew ? created(request, form, in: session) : moved(request, form)
        }
    }

    @Sendable private func abandon(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        request.remark(standing: id(of: request), of: found.session)
        let response = UnitResponse<Void>(to: request) { _ in .done }
        return try response.of(
            await found.session.abandonJourney(
                id(of: request), condition: try Conditions.ofWrite(request, ofJourney: true), once: response.once))
    }

    @Sendable private func send(_ request: HTTPRequest, _ found: FoundSession) throws -> HTTPOutcome {
        let (event, data, step, challenge) = try event(of: request)
        if request.takesRemarks, eventNames.contains(event) { request.remark("journey_event", event) }
        let condition = try Self.condition(of: request, step)
        let includesSchemas = try Self.includesSchemas(request)
        let actor: JourneyActor = listener == .admin ? .backend : .client
        let response = UnitResponse(to: request) { [self] (form: JourneyForm) in moved(request, form) }
        return .deferred { [self] responder in
            found.session.send(
                event, data: data, toJourney: id(of: request), condition: condition, by: actor,
                challenge: challenge, withSchemas: includesSchemas, presenting: found.unconfirmed, once: response.once,
                then: responder.completion { [self] form in
                    do {
                        return try response.of(form.get())
                    } catch {
                        throw explained(error, request, found.session)
                    }
                })
        }
    }

    @Sendable private func navigate(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        let session = found.session
        let body = try BodyMembers(request, known: ["to", "params"])
        guard let screen = try body.text("to") else { throw BodyMembers.missing("to") }
        let params = try Self.params(of: body)
        let condition = try Conditions.ofWrite(request, ofJourney: true)
        let includesSchemas = try Self.includesSchemas(request)
        do {
            let response = UnitResponse(to: request) { [self] (moved: (JourneyForm, path: [String])) in
                navigated(request, moved.0, path: moved.path)
            }
            return try response.of(
                await session.navigate(
                    journey: id(of: request), to: screen, params: params, condition: condition, by: actor,
                    withSchemas: includesSchemas, once: response.once))
        } catch {
            throw explained(error, request, session)
        }
    }

    private static func params(of body: BodyMembers) throws(Problem) -> JSONDocument? {
        guard let params = body["params"] else { return nil }
        guard params.kind == .object else { throw BodyMembers.refusal("params", "must be an object") }
        return params
    }

    private func navigated(_ request: HTTPRequest, _ form: JourneyForm, path: [String]) -> HTTPResponse {
        request.remark(form)
        var json = JSONWriter(reservingCapacity: 1_024)
        // The view with one more member at its end.
        json.raw(form.text.bytes.dropLast())
        json.array("path") { json in
            for screen in path { json.string(screen) }
        }
        json.endObject()
        return request.minimized(
            dressing.dress(
                .state(.ok, json.bytes, form.text.etag), of: form.text, for: request, schemas: form.schemas))
    }

    private static func condition(of request: HTTPRequest, _ step: Int?) throws(Problem) -> WriteCondition {
        var condition = try Conditions.ofWrite(request, ofJourney: true)
        if let step { condition.step = UInt64(step) }
        return condition
    }

    private func event(
        of request: HTTPRequest
    ) throws -> (name: String, data: JSONDocument?, step: Int?, challenge: String?) {
        let body = try BodyMembers(request, known: ["event", "data", "step", "challenge"])
        guard let event = try body.text("event") else { throw BodyMembers.missing("event") }
        let proof = SignInProof.text(
            challenge: try Self.challenge(body["challenge"]), isByCookie: caller.isByCookie(request))
        return (event, body["data"], try body.number("step"), proof)
    }

    private static func challenge(_ value: JSONDocument?) throws(Problem) -> String? {
        guard let value else { return nil }
        guard let text = value.string, CodeChallenge(text) != nil else {
            throw BodyMembers.refusal("challenge", "must be BASE64URL(SHA-256(verifier)): 43 digits, no padding")
        }
        return text
    }

    static func includesSchemas(_ request: HTTPRequest) throws -> Bool {
        guard request.hasQuery else { return false }
        var query = try QueryReader(request)
        let included: JourneyInclusion? = query.choice(.include)
        try query.check()
        return included == .schema
    }

    private func answer(
        _ request: HTTPRequest, _ text: JourneyText, schemas: EventSchemas? = nil
    ) throws -> HTTPResponse {
        request.remark(text)
        try Conditions.checkRead(request, journey: text.etag)
        let isKnown = try isKnown(text, to: request)
        return dressing.dress(
            .state(isKnown ? .notModified : .ok, Problem.shown(text, under: request.basePath), text.etag),
            of: text, for: request, schemas: schemas)
    }

    /// A view with more at its end, as the value of `tasks` and what follows it. The entity tag changes with that, too;
    /// as a condition of a write it stands for the journey alone, as one that names a language does.
    func answer(_ request: HTTPRequest, _ form: JourneyForm, and rest: [UInt8]) throws -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 2_048 + rest.count)
        json.raw(Problem.shown(form.text, under: request.basePath).dropLast())
        json.name("tasks")
        json.raw(rest)
        json.endObject()
        let opaque = "\(form.text.etag.opaque)-\(SHA256Digest(of: rest).text().prefix(16))"
        let tag = dressing.etag(opaque, of: form.text, for: request) ?? "\"\(opaque)\""
        let isKnown = try Conditions.isNotModified(request, tag)
        var response = HTTPResponse.state(isKnown ? .notModified : .ok, json.bytes, form.text.etag)
        response.fields[.etag] = "\"\(opaque)\""
        return dressing.dress(response, of: form.text, for: request, schemas: form.schemas)
    }

    private func isKnown(_ text: JourneyText, to request: HTTPRequest) throws -> Bool {
        if let etag = dressing.etag(text.etag.opaque, of: text, for: request) {
            return try Conditions.isNotModified(request, etag)
        }
        return try Conditions.isNotModified(request, text.etag)
    }

    private func moved(_ request: HTTPRequest, _ form: JourneyForm) -> HTTPResponse {
        request.minimized(response(.ok, request, form))
    }

    func created(_ request: HTTPRequest, _ form: JourneyForm, in session: Session) -> HTTPResponse {
        var response = response(.created, request, form)
        response.fields.add(
            .location, "\(request.basePath)/v1/sessions/\(session.id)/journeys/\(form.text.journey)")
        return response
    }

    private func response(_ status: HTTPStatus, _ request: HTTPRequest, _ form: JourneyForm) -> HTTPResponse {
        request.remark(form)
        return dressing.dress(
            .state(status, form.text.bytes, form.text.etag), of: form.text, for: request, schemas: form.schemas)
    }

    /// Adds to the refusal of an ended journey how to start it again, and the view to that of one that has changed.
    private func explained(_ error: any Error, _ request: HTTPRequest, _ session: Session) -> any Error {
        request.remark(standing: id(of: request), of: session)
        if case JourneyError.preconditionFailed = error { return changed(request, session) ?? error }
        guard let refusal = error as? JourneyRefusal else { return error }
        switch refusal {
        case .finished, .expired, .orphaned:
            return Problem(
                refusal, ofJourneyAt: request.journeyPath, restart: session.restart(of: id(of: request)))
        default:
            guard dressing.translates, let view = try? session.residentJourney(id(of: request)) else { return error }
            return dressing.problem(refusal, of: view, for: request)
        }
    }

    /// The refusal with the view that the next request may be based on, and its entity tag.
    private func changed(_ request: HTTPRequest, _ session: Session) -> Problem? {
        guard let includesSchemas = try? Self.includesSchemas(request),
            let form = try? session.residentForm(id(of: request), withSchemas: includesSchemas)
        else { return nil }
        let (text, bytes) = (form.text, Problem.shown(form.text, under: request.basePath))
        let shown = dressing.dress(.state(.ok, bytes, text.etag), of: text, for: request, schemas: form.schemas)
        guard let view = try? JSONDocument(parsing: shown.body) else { return nil }
        let problem = Problem(JourneyError.preconditionFailed(current: text.etag))
        var fields = problem.fields
        fields[.etag] = shown.fields[.etag]
        if dressing.translates { fields.add(.vary, HTTPFieldName.acceptLanguage.text) }
        return Problem(problem.kind, problem.detail, members: [(name: "journey", value: view)], fields: fields)
    }

    func id(of request: HTTPRequest) -> String { request.parameter("id") }
}

/// What `include` may name.
enum JourneyInclusion: String, CaseIterable {
    case schema
}
