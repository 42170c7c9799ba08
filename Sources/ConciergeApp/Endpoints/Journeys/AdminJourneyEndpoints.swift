import API
import Configuration
import FlowTools
import HTTPServer
import JSONDocument
import Navigation
import Sessions

/// Journeys for operators: those of one session, and where all of them stand.
struct AdminJourneyEndpoints: Sendable {
    let sessions: Sessions
    /// The session that the path names.
    let session: @Sendable (HTTPRequest) async throws -> Session
    /// The same as for clients.
    let journeys: JourneyEndpoints

    func add(to routes: inout RouterBuilder) {
        let path = JourneyEndpoints.path
        routes.on(.get, path) { request in
            let page = try PageRequest(request)
            return .page(try ListPage(of: try await session(request).journeys(), page, named: \.journey)) {
                $0.raw(Problem.shown($1, under: request.basePath))
            }
        }
        routes.on(.get, "\(path)/{id}", show)
        routes.on(.get, "\(path)/{id}/history", history)
        journeys.addSteps(to: &routes)
        routes.on(.get, "/v1/journeys", find)
        routes.on(.get, "/v1/journeys/census", census)
        routes.on(.post, "/v1/journeys/trial", trial)
    }

    /// What the person sees, and beside it the tasks of the journey and the services of the screens on its stack.
    private func show(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (session, id) = (try await session(request), request.parameter("id"))
        let withSchemas = try JourneyEndpoints.includesSchemas(request)
        let (form, services) = try await session.inspectJourney(id, withSchemas: withSchemas)
        try Conditions.checkRead(request, journey: form.text.etag)
        var query = TaskQuery(now: sessions.now, limit: Self.mostTasks)
        query.session = session.id
        let tasks = try await sessions.tasks(query).filter { $0.id.journey == id }
        var json = JSONWriter(reservingCapacity: 2_048)
        json.beginArray()
        for (task, details) in await sessions.details(of: tasks) {
            json.listed(task, task.status(at: query.now), details, sessions.timestamp, under: request.basePath)
        }
        json.endArray()
        json.name("services")
        json.beginArray()
        for service in services {
            json.object { json in
                json.member("name", service.name)
                json.member("owner", service.owner)
                json.member("etag", service.etag.description)
                json.name("state")
                json.raw(service.bytes)
            }
        }
        json.endArray()
        return try journeys.answer(request, form, and: json.bytes)
    }

    /// A session has fewer.
    private static let mostTasks = 1_000

    private func history(_ request: HTTPRequest) async throws -> HTTPResponse {
        let steps = try await session(request).history(ofJourney: request.parameter("id"))
        return .json { json in
            json.objects("items", steps) { json, step in
                json.member("time", step.time)
                json.member("cause", step.cause.name)
                if let event = step.event { json.member("event", event) }
                json.member("from", step.from)
                json.member("to", step.to)
                json.member("who", step.actor.name)
            }
        }
    }

    private func trial(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try BodyMembers(request, known: ["flows", "services"])
        guard let flows = body["flows"]?.elements else { throw BodyMembers.missing("flows") }
        let files = flows.enumerated().map { FlowFile(name: "/flows/\($0.offset)", bytes: $0.element.serialized()) }
        let services = try body["services"].map { try self.services($0) }
        let (catalog, problems) = FlowLoader(
            services: (services ?? sessions.catalog).directory,
            span: SessionSpan(
                lifetime: sessions.settings.longestLifetime, caseLifetime: sessions.settings.caseLifetime)
        ).load(files)
        guard let catalog else {
            let errors = problems.filter { $0.severity == .error }
            throw Problem(
                .invalidInput, "The services do not allow these flows.",
                errors: errors.map {
                    JSONViolation(pointer: $0.file + $0.pointer, detail: "\($0.code.rawValue): \($0.message)")
                })
        }
        let trial = try await sessions.runningJourneys(under: FlowEngine(catalog: catalog), with: services).trial
        return .json { json in
            json.member("running", trial.running)
            json.member("staying", trial.staying)
            json.objects("lost", trial.lost) { json, lost in
                json.member("flow", lost.loss.flow)
                json.member("version", lost.loss.version)
                json.member("count", lost.count)
                if let detail = lost.loss.detail { json.member("detail", detail) }
            }
            json.objects("misfits", trial.misfits) { json, found in
                json.member("flow", found.misfit.flow)
                json.member("version", found.misfit.version)
                json.member("service", found.misfit.service)
                json.member("pointer", found.misfit.pointer)
                json.member("detail", found.misfit.detail)
                json.member("count", found.count)
            }
        }
    }

    /// The services of the program, and those that a request declares as in their files.
    private func services(_ list: JSONDocument) throws(Problem) -> ServiceCatalog {
        guard let items = list.elements else { throw BodyMembers.missing("services") }
        let usual: [(name: String, value: JSONDocument)] = [("schema", true), ("default", .emptyObject)]
        let documents = items.map { item in
            guard let members = item.members else { return item }
            return JSONDocument(members: members + usual.filter { item[member: $0.name] == nil })
        }
        let loaded = LoadedConfiguration.reading(services: documents, adding: sessions.catalog.added)
        let errors = loaded.problems.filter { $0.severity == .error }
        guard errors.isEmpty else {
            throw Problem(
                .invalidInput,
                errors: errors.map { error in
                    let file = if case .file(let path, _, _) = error.origin { path } else { "/services" }
                    return JSONViolation(pointer: file + error.pointer, detail: "\(error.code): \(error.message)")
                })
        }
        do throws(ServiceCatalogError) {
            return try loaded.catalog()
        } catch {
            throw Problem(
                .invalidInput, errors: error.problems.map { JSONViolation(pointer: "/services", detail: $0) })
        }
    }

    private func find(_ request: HTTPRequest) async throws -> HTTPResponse {
        var reader = try QueryReader(request)
        let page = try PageRequest(&reader)
        var query = JourneyQuery(limit: page.limit)
        query.flow = reader.text(.flow)
        query.version = reader.integer(.journeyVersion, in: 1...Int(Int32.max))
        query.state = reader.text(.state)
        query.standing = reader.choice(.status)
        query.userID = reader.text(.userID)
        query.label = reader.pair(.label)
        query.before = reader.duration(.olderThan).map { sessions.now - $0.milliseconds }
        try reader.check()
        query.after = try page.cursorText.map { try JourneyCursor(text: $0) }
        let (found, next) = try await sessions.journeys(query)
        return .json { json in
            json.objects("items", found) { json, found in
                let (session, journey) = (found.session.description, found.journey)
                func optionalTime(_ name: String, _ time: Int64?) {
                    json.name(name)
                    if let time { json.time(sessions.timestamp(time)) } else { json.null() }
                }
                json.member("session", session)
                json.member("user_id", found.userID)
                json.member("journey", journey.id)
                json.member("flow", found.place.flow)
                json.member("version", found.place.version)
                json.member("state", found.place.state.isEmpty ? nil : found.place.state)
                json.member("status", found.place.standing.rawValue)
                json.member("started_at", sessions.timestamp(journey.startedAt))
                json.member("last_step_at", sessions.timestamp(journey.movedAt))
                optionalTime("expires_at", journey.isActive ? journey.expiresAt : nil)
                optionalTime("due_at", journey.isActive ? journey.dueAt : nil)
                json.member("url", request.basePath + "/v1/sessions/\(session)/journeys/\(journey.id)")
            }
            if let next { json.member("next", next.text) }
        }
    }

    private func census(_ request: HTTPRequest) async throws -> HTTPResponse {
        let rows = try await sessions.runningJourneys()
        return .json { json in
            json.objects("items", rows) { json, row in
                json.member("flow", row.flow)
                json.member("version", row.version)
                json.member("state", row.state)
                json.member("count", row.count)
                json.member("in_use", row.inUse)
            }
        }
    }
}

extension StepCause.Kind {
    fileprivate var name: String {
        switch self {
        case .start: "start"
        case .startOver: "start_over"
        case .event: "event"
        case .navigation: "navigation"
        case .task: "task"
        case .timer: "timer"
        case .rule: "rule"
        case .version: "version"
        case .move: "move"
        }
    }
}

extension JourneyActor {
    fileprivate var name: String {
        switch self {
        case .client: "client"
        case .backend: "backend"
        case .time: "time"
        case .admin: "admin"
        }
    }
}

extension AdminJourneyEndpoints {
    static let operations: [APIOperation] =
        JourneyEndpoints.operationsOfSteps + [
            APIOperation(
                method: .get, path: "/v1/sessions/{session}/journeys", id: "listJourneys",
                summary: "The journeys of a session, as their clients see them",
                parameters: [.limit, .cursor],
                responses: [.json("Those that are kept, the oldest first.", "JourneyList")], problems: [.invalidInput]),
            APIOperation(
                method: .get, path: "/v1/sessions/{session}/journeys/{id}", id: "inspectJourney",
                summary: "What the person sees, with the journey's tasks and the services of the screens on its stack",
                parameters: [.include, .acceptLanguage, .ifNoneMatch, .ifMatch],
                responses: [
                    .json("The journey.", "InspectedJourney", headers: [.etag, .contentLanguage, .vary]),
                    APIResponse(
                        status: .notModified, meaning: "It shows what the caller has already.", headers: [.etag]),
                ],
                problems: JourneyEndpoints.looking),
            APIOperation(
                method: .get, path: "/v1/sessions/{session}/journeys/{id}/history", id: "showJourneyHistory",
                summary: "The last 50 steps of a journey: when, by what, from where to where, and who; never data",
                responses: [.json("The steps, the oldest first.", "JourneyHistory")], problems: JourneyEndpoints.looking
            ),
            APIOperation(
                method: .get, path: "/v1/journeys", id: "findJourneys", summary: "The journeys of all sessions",
                parameters: [.flow, .journeyVersion, .state, .status, .userID, .label, .olderThan, .limit, .cursor],
                responses: [.json("A page of journeys, without their data.", "FoundJourneys")],
                problems: [.invalidInput]),
            APIOperation(
                method: .get, path: "/v1/journeys/census", id: "countJourneys",
                summary: "How many running journeys stand where: by flow, version and state",
                responses: [.json("One row for each state that a running journey is in.", "JourneyCensus")]),
            APIOperation(
                method: .post, path: "/v1/journeys/trial", id: "tryFlows",
                summary:
                    "What would become of running journeys under other flows and services: each is tried with its data",
                body: .json("FlowTrial"), responses: [.json("Counts of journeys.", "JourneyTrial")]),
        ]
}
