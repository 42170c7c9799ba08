import API
import HTTPServer
import JSONDocument
import Sessions

/// Tasks of journeys, for the back ends that do them: API, section 7.
struct TaskEndpoints: Sendable {
    let sessions: Sessions

    /// What a lease may be: shorter ones end before a response arrives, longer ones are a mistake.
    static let leases: ClosedRange<Duration> = .seconds(1) ... .seconds(86_400)
    static let mostWait = Duration.seconds(60)
    static let mostRetryAfter = Duration.seconds(7 * 86_400)
    static let mostClaimed = 100
    private static let claims = "/v1/tasks/claims"
    private static let usualLease = Duration.seconds(30)

    func add(to routes: inout RouterBuilder) {
        routes.on(.post, Self.claims, claim)
        routes.on(.get, "/v1/tasks", list)
        routes.on(.post, "/v1/tasks/{id}/result", finish)
        routes.on(.post, "/v1/tasks/{id}/failure", fail)
        routes.on(.post, "/v1/tasks/{id}/lease", extend)
        routes.on(.post, "/v1/tasks/{id}/retry", retry)
    }

    private func claim(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try BodyMembers(request, known: ["task", "max", "lease", "wait"])
        guard let name = try body.text("task") else { throw BodyMembers.missing("task") }
        let limit = try body.number("max") ?? 1
        guard limit <= Self.mostClaimed else {
            throw BodyMembers.refusal("max", "must be an integer from 1 to \(Self.mostClaimed)")
        }
        let lease = try body.duration("lease", in: Self.leases) ?? Self.usualLease
        let wait = try body.duration("wait", in: .zero...Self.mostWait) ?? .zero
        let tasks = try await sessions.claimTasks(
            named: name, max: limit, lease: lease.milliseconds, wait: wait.milliseconds)
        // A name that no task has may be anything.
        if tasks.isEmpty { request.noteNoChange() } else { request.remark("task", name) }
        return .json { json in
            json.array("items") { json in
                for task in tasks { json.task(task, leaseEnd: sessions.timestamp(task.task.due)) }
            }
        }
    }

    /// A claim waits for what others do, also where its `Idempotency-Key` is looked for first.
    struct Patience: HTTPMiddleware {
        func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
            if request.match.route?.pattern.text == TaskEndpoints.claims { request.bePatient() }
            return try next(request)
        }
    }

    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        var reader = try QueryReader(request)
        let page = try PageRequest(&reader)
        // One more shows whether there is another page.
        var query = TaskQuery(now: sessions.now, limit: page.limit + 1)
        query.name = reader.text(.task)
        query.status = reader.choice(.status)
        query.session = reader.sessionID(.sessionID)
        query.before = reader.duration(.olderThan).map { query.now - $0.milliseconds }
        try reader.check()
        query.after = try page.cursorText.map { text throws(SessionError) in
            guard let id = TaskID(text) else { throw .malformedCursor }
            return id
        }
        let tasks =
            if let user = reader.text(.userID) { try await sessions.tasks(query, ofUser: user) } else {
                try await sessions.tasks(query)
            }
        var items: [(task: StoredTask, details: TaskDetails?)] = []
        for task in tasks.prefix(page.limit) {
            // What cannot be read now is left out.
            items.append((task, try? await sessions.details(of: task)))
        }
        return .json { json in
            json.array("items") { json in
                for (task, details) in items {
                    json.listed(
                        task, task.status(at: query.now), details, sessions.timestamp, under: request.basePath)
                }
            }
            if tasks.count > page.limit { json.member("next", tasks[page.limit - 1].id.description) }
        }
    }

    private func finish(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try BodyMembers(request, known: ["outcome", "output", "sign_in"])
        guard let outcome = try body.text("outcome") else { throw BodyMembers.missing("outcome") }
        var report = TaskReport(outcome: outcome, output: body["output"] ?? .null)
        report.signIn = body["sign_in"]
        let id = try await id(of: request)
        let response = UnitResponse<TaskEnd>(to: request) { HTTPResponse($0, to: request) }
        return try response.of(await sessions.endTask(id, by: report, once: response.once))
    }

    private func fail(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try BodyMembers(request, known: ["reason", "retry_after", "attempt", "final"])
        guard let reason = try body.text("reason") else { throw BodyMembers.missing("reason") }
        let after = try body.duration("retry_after", in: .zero...Self.mostRetryAfter)
        let id = try await id(of: request)
        request.remark("failure", reason)
        return HTTPResponse(
            try await sessions.failTask(
                id, attempt: body.number("attempt"), reason: reason, retryAfter: after?.milliseconds,
                isFinal: body.flag("final")), to: request)
    }

    private func retry(_ request: HTTPRequest) async throws -> HTTPResponse {
        _ = try BodyMembers(request, known: [], isOptional: true)
        let response = UnitResponse<TaskEnd?>(to: request) { HTTPResponse($0 ?? .taken, to: request) }
        return try response.of(await sessions.retryTask(try await id(of: request), once: response.once))
    }

    private func extend(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try BodyMembers(request, known: ["lease", "attempt"])
        guard let lease = try body.duration("lease", in: Self.leases) else { throw BodyMembers.missing("lease") }
        let task = try await sessions.extendTask(
            try await id(of: request), attempt: body.number("attempt"), lease: lease.milliseconds)
        return .json { $0.member("lease_expires_at", sessions.timestamp(task.due)) }
    }

    /// The owner of an `Idempotency-Key`: responses are kept with the session whose task it is. That in which the task
    /// began may have ended since: the key stays the same. That of a notice may have, too.
    @Sendable func keyOwner(of request: HTTPRequest) async throws -> KeyOwner {
        guard request.match.route?.pattern.parameterNames.contains("id") == true,
            let task = TaskID(request.parameter("id")), !task.isNotice
        else { return .administrator(nil) }
        return KeyOwner(
            .administrator(task.session), try await sessions.session(task.session).map { .session($0) } ?? .none)
    }

    private func id(of request: HTTPRequest) async throws(TaskError) -> TaskID {
        guard let id = TaskID(request.parameter("id")) else { throw .notFound }
        await request.remark(id, of: sessions)
        return id
    }
}

extension JSONWriter {
    /// A task for those who do it; also the body that is sent to a back end.
    mutating func task(_ claimed: ClaimedTask, leaseEnd: Timestamp) {
        beginObject()
        member("id", claimed.task.id.description)
        member("task", claimed.task.name)
        member("input", claimed.input)
        object("session") { json in
            json.member("id", claimed.task.id.session.description)
            json.member("user_id", claimed.userID)
        }
        if let place = claimed.place {
            object("journey") { json in
                json.member("id", claimed.task.id.journey)
                json.member("flow", place.flow)
                json.member("version", place.version)
                json.member("step", place.step)
            }
        }
        member("attempt", claimed.task.attempt)
        member("lease_expires_at", leaseEnd)
        endObject()
    }

    /// A task in the list of all.
    ///
    /// - Parameter showsInput: whether what it is done with is there, too.
    mutating func listed(
        _ task: StoredTask, _ status: TaskStatus, _ details: TaskDetails?, _ shown: (Int64) -> Timestamp,
        under basePath: String, showsInput: Bool = false
    ) {
        func optionalTime(_ name: String, _ time: Int64?) {
            self.name(name)
            if let time, time < .max { self.time(shown(time)) } else { null() }
        }
        beginObject()
        member("id", task.id.description)
        member("task", task.name)
        member("status", status.rawValue)
        member("session", task.id.session.description)
        member("user_id", details?.userID)
        if !task.id.isNotice { member("journey", task.id.journey) }
        member("attempt", task.attempt)
        member("attempts", task.attempts)
        member("created_at", shown(task.createdAt))
        optionalTime("lease_expires_at", status == .claimed ? task.due : nil)
        optionalTime("next_attempt_at", status == .waiting && task.attempt > 0 ? task.readyAt : nil)
        member("last_failure", details?.notes?.failure)
        if showsInput { member("input", details?.input ?? .null) }
        if let result = details?.notes?.result {
            object("result") { json in
                json.member("outcome", result.outcome)
                json.member("output", result.output)
                if let signIn = result.signIn { json.member("sign_in", signIn) }
            }
            member("problem", Problem.shown(result.problem, under: basePath))
        }
        endObject()
    }
}

extension HTTPResponse {
    /// 204, 200 with the new token of a session to which a user was attached, or 202 for a result that is kept.
    fileprivate init(_ end: TaskEnd, to request: HTTPRequest) {
        switch end {
        case .taken: self = .done
        case .signedIn(let signedIn):
            guard let token = signedIn.token else {
                self = .done
                return
            }
            request.carries(token)
            self = .signedIn(signedIn.session, token)
        case .held(let problem):
            request.remark(held: problem)
            self = .json(.accepted) { json in
                json.member("held", true)
                json.member("problem", Problem.shown(problem, under: request.basePath))
            }
        }
    }
}

extension TaskEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/tasks/claims", id: "claimTasks",
            summary: "Hands out tasks to be done, the oldest first; waits for one if there is none",
            parameters: [.idempotencyKey], body: .json("TaskClaim"),
            responses: [
                .json("The tasks; empty if none arrived within `wait`.", "ClaimedTasks")
            ],
            problems: [.contention, .storageFull]),
        APIOperation(
            method: .get, path: "/v1/tasks", id: "listTasks",
            summary: "The tasks that are to be done, and those whose result is held",
            parameters: [.task, .status, .sessionID, .userID, .olderThan, .limit, .cursor],
            responses: [.json("A page of tasks.", "TaskList")],
            problems: [.invalidInput]),
        APIOperation(
            method: .post, path: "/v1/tasks/{id}/result", id: "finishTask",
            summary: "The result of a task: its journey moves on, and with `sign_in` a user is attached to the session",
            parameters: [.idempotencyKey], body: .json("TaskResult"),
            responses: [
                .done("The journey has moved on."),
                .json(
                    "A user was attached, and no challenge says who fetches the new token: the session, and the token.",
                    "SignedIn"),
                held,
            ],
            problems: ending + [.invalidInput, .tooManySessionsOfUser]),
        APIOperation(
            method: .post, path: "/v1/tasks/{id}/failure", id: "failTask",
            summary: "An attempt has failed: the task is handed out again, or its journey moves on by `done.failed`",
            parameters: [.idempotencyKey], body: .json("TaskFailure"),
            responses: [.done("Noted."), held], problems: ending + [.taskHeld]),
        APIOperation(
            method: .post, path: "/v1/tasks/{id}/lease", id: "extendTask",
            summary: "The attempt takes longer: extends its lease, from now on", parameters: [.idempotencyKey],
            body: .json("TaskLease"),
            responses: [.json("When the lease ends.", "TaskLeaseEnd")],
            problems: [.taskNotFound, .taskOver, .taskNotClaimed, .storageFull]),
        APIOperation(
            method: .post, path: "/v1/tasks/{id}/retry", id: "retryTask",
            summary: "Tries a kept result again; for any other task the next attempt may begin now",
            parameters: [.idempotencyKey],
            responses: [.done("The journey has moved on, or the task is due."), held],
            problems: ending + [.invalidInput]),
    ]

    private static let held = APIResponse.json(
        "The flow cannot take the result. It is kept, with the problem, until an operator ends the task.", "HeldTask",
        status: .accepted)

    private static let ending: [ProblemKind] = [
        .taskNotFound, .taskOver, .taskNotClaimed, .guardNotMet, .actionFailed, .invalidState, .stackFull,
        .journeyOrphaned,
        .endlessFlow, .stateTooLarge, .contention, .storageFull,
    ]
}
