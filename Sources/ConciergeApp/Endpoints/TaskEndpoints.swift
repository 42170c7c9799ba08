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
        if tasks.isEmpty { request.noteNoChange() }
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
        var query = try QueryReader(request)
        let status: TaskStatus? = query.choice(.status)
        let page = try PageRequest(&query)
        let after = try page.cursorText.map { text throws(SessionError) in
            guard let id = TaskID(text) else { throw .malformedCursor }
            return id
        }
        // One more shows whether there is another page.
        let tasks = try await sessions.tasks(
            named: query.text(.task), status, after: after, limit: page.limit + 1)
        let now = sessions.now
        return .json { json in
            json.array("items") { json in
                for task in tasks.prefix(page.limit) {
                    json.listed(task, task.status(at: now), sessions.timestamp)
                }
            }
            if tasks.count > page.limit { json.member("next", tasks[page.limit - 1].id.description) }
        }
    }

    private func finish(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try BodyMembers(request, known: ["outcome", "output", "sign_in"])
        guard let outcome = try body.text("outcome") else { throw BodyMembers.missing("outcome") }
        let user = try UserClaims.ofResult(body["sign_in"])
        let response = UnitResponse(to: request) { (signedIn: SignedIn?) in
            guard let signedIn, let token = signedIn.token else { return .done }
            request.carries(token)
            return .signedIn(signedIn.session, token)
        }
        return try response.of(
            await sessions.endTask(
                id(of: request), outcome: outcome, output: body["output"] ?? .null, signingIn: user,
                once: response.once))
    }

    private func fail(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try BodyMembers(request, known: ["reason", "retry_after", "attempt"])
        guard let reason = try body.text("reason") else { throw BodyMembers.missing("reason") }
        let after = try body.duration("retry_after", in: .zero...Self.mostRetryAfter)
        try await sessions.failTask(
            id(of: request), attempt: body.number("attempt"), reason: reason, retryAfter: after?.milliseconds)
        return .done
    }

    private func extend(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try BodyMembers(request, known: ["lease", "attempt"])
        guard let lease = try body.duration("lease", in: Self.leases) else { throw BodyMembers.missing("lease") }
        let task = try await sessions.extendTask(
            id(of: request), attempt: body.number("attempt"), lease: lease.milliseconds)
        return .json { $0.member("lease_expires_at", sessions.timestamp(task.due)) }
    }

    /// The owner of an `Idempotency-Key`: responses are kept with the session whose task it is.
    @Sendable func keyOwner(of request: HTTPRequest) async throws -> KeyOwner {
        guard request.match.route?.pattern.parameterNames.contains("id") == true,
            let id = TaskID(request.parameter("id")), let session = try await sessions.session(id.session)
        else { return .administrator(nil) }
        return .administrator(session)
    }

    private func id(of request: HTTPRequest) throws(TaskError) -> TaskID {
        guard let id = TaskID(request.parameter("id")) else { throw .notFound }
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
        object("journey") { json in
            json.member("id", claimed.task.id.journey)
            json.member("flow", claimed.flow)
            json.member("version", claimed.version)
            json.member("step", claimed.step)
        }
        member("attempt", claimed.task.attempt)
        member("lease_expires_at", leaseEnd)
        endObject()
    }

    /// A task in the list of all.
    fileprivate mutating func listed(_ task: StoredTask, _ status: TaskStatus, _ shown: (Int64) -> Timestamp) {
        func optionalTime(_ name: String, _ time: Int64?) {
            self.name(name)
            if let time, time < .max { self.time(shown(time)) } else { null() }
        }
        beginObject()
        member("id", task.id.description)
        member("task", task.name)
        member("status", status.rawValue)
        member("session", task.id.session.description)
        member("journey", task.id.journey)
        member("attempt", task.attempt)
        member("attempts", task.attempts)
        member("created_at", shown(task.createdAt))
        optionalTime("lease_expires_at", status == .claimed ? task.due : nil)
        optionalTime("next_attempt_at", status == .waiting && task.attempt > 0 ? task.readyAt : nil)
        endObject()
    }
}

extension TaskEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/tasks/claims", id: "claimTasks",
            summary: "Hands out tasks to be done, the oldest first; waits for one if there is none",
            parameters: [.idempotencyKey], body: .json("TaskClaim"),
            responses: [
                .json(
                    "The tasks; empty if none arrived within `wait`.", "ClaimedTasks",
                    headers: [.idempotencyReplayed])
            ],
            problems: [.contention, .storageFull]),
        APIOperation(
            method: .get, path: "/v1/tasks", id: "listTasks", summary: "The tasks that journeys wait for",
            parameters: [.task, .status, .limit, .cursor], responses: [.json("A page of tasks.", "TaskList")],
            problems: [.invalidInput]),
        APIOperation(
            method: .post, path: "/v1/tasks/{id}/result", id: "finishTask",
            summary: "The result of a task: its journey moves on, and with `sign_in` a user is attached to the session",
            parameters: [.idempotencyKey], body: .json("TaskResult"),
            responses: [
                .done("The journey has moved on.", headers: [.idempotencyReplayed]),
                .json(
                    "A user was attached, and no challenge says who fetches the new token: the session, and the token.",
                    "SignedIn", headers: [.idempotencyReplayed]),
            ],
            problems: ending + [.invalidInput, .tooManySessionsOfUser]),
        APIOperation(
            method: .post, path: "/v1/tasks/{id}/failure", id: "failTask",
            summary: "An attempt has failed: the task is handed out again, or its journey moves on by `done.failed`",
            parameters: [.idempotencyKey], body: .json("TaskFailure"),
            responses: [.done("Noted.", headers: [.idempotencyReplayed])], problems: ending),
        APIOperation(
            method: .post, path: "/v1/tasks/{id}/lease", id: "extendTask",
            summary: "The attempt takes longer: extends its lease, from now on", parameters: [.idempotencyKey],
            body: .json("TaskLease"),
            responses: [.json("When the lease ends.", "TaskLeaseEnd", headers: [.idempotencyReplayed])],
            problems: [.taskNotFound, .taskOver, .taskNotClaimed, .storageFull]),
    ]

    private static let ending: [ProblemKind] = [
        .taskNotFound, .taskOver, .taskNotClaimed, .guardNotMet, .actionFailed, .invalidState, .stackFull,
        .journeyOrphaned,
        .endlessFlow, .stateTooLarge, .contention, .storageFull,
    ]
}
