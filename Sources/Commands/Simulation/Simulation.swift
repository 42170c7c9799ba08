import API
import Configuration
import JSONDocument
import Navigation
import Sessions
import Synchronization

/// Plays a script on a flow as the server would: a session with its services, kept in memory, and a clock that the
/// script moves.
struct Simulation {
    private let sessions: Sessions
    private let session: Session
    private let catalog: ServiceCatalog
    private let clock: SimulationClock
    private let flow: FlowDefinition
    private let given: SimulationScript.Given
    private let recording: Recording
    private let seen = SeenTasks()

    /// - Parameter given: the services, the user and the time before the first step.
    init(of flow: FlowDefinition, _ loaded: LoadedConfiguration, given: SimulationScript.Given) async throws {
        clock = SimulationClock(startingAt: given.now ?? SystemClock().now())
        let recording = Recording()
        var settings = SessionSettings()
        // Flows are what runs out of time here.
        settings.idleTimeout = Self.decade
        settings.lifetime = Self.decade
        let flows = loaded.flows.trial(ending: given.children) { recording.add($0) }
        let engine = FlowEngine(catalog: flows)
        sessions = Sessions(
            settings: settings,
            catalog: try loaded.catalog(), store: MemoryStore(), clock: clock,
            journeys: JourneySettings(engine: engine, problem: { Problem(ofResult: $0).document }))
        catalog = sessions.catalog
        session = try await sessions.create().0
        if let user = given.user { _ = try await sessions.attachUser(user.id, claims: user.claims, to: session) }
        self.flow = flow
        self.given = given
        self.recording = recording
        try await write(given.services.filter { !flow.ownership.services.contains($0.name) })
    }

    /// - Parameter journey: the journey that owns the services; nil for those of the session.
    private func write(_ services: [(name: String, value: JSONDocument)], in journey: String? = nil) async throws {
        for (name, value) in services {
            let service = try catalog.service(named: name)
            // With a condition: some services are not written otherwise.
            let operation = ServiceOperation(
                .mergePatch(value), on: service, condition: WriteCondition(ifMatch: .any), journey: journey)
            if service.scope == .process {
                _ = try await sessions.processDocuments().perform([operation], by: .process)
            } else {
                _ = try await session.perform([operation], by: .admin)
            }
        }
    }

    /// Starts the journey. What its flow owns is written when it has begun, so the way to a screen in the middle comes
    /// after that.
    private func start(_ input: JSONDocument?) async throws -> (shown: JourneyText, path: [String]) {
        let owned = given.services.filter { flow.ownership.services.contains($0.name) }
        let shown = try await session.startJourney(
            flow: flow.id, version: flow.version, input: input, at: owned.isEmpty ? given.at : nil)
        guard !owned.isEmpty else { return (shown, []) }
        let id = shown.view.id
        try await write(owned, in: id)
        guard let screen = given.at else { return (try await session.journey(id), []) }
        return try await session.navigate(journey: id, to: screen)
    }

    /// What became of a step.
    enum Result {
        case shown(JourneyText, path: [String] = [])
        case refused(any Error)
    }

    /// Plays a script to its end, also when steps are refused, unless the journey cannot be started.
    ///
    /// - Parameter tell: is told of each step; nil is the start.
    /// - Returns: the transitions that were taken, as flow, version and JSON Pointer.
    func play(
        _ script: SimulationScript, input: JSONDocument?,
        telling tell: (_ step: Int?, Result) async throws -> Void
    ) async throws -> Set<TakenTransition> {
        let id: String
        do {
            let started = try await start(input).shown
            id = started.view.id
            let shown = try await endingTasks(started)
            recording.keep()
            try await tell(nil, .shown(shown))
        } catch let error where error is JourneyRefusal || error is JourneyError {
            try await tell(nil, .refused(error))
            return recording.kept
        }
        for (place, step) in script.steps.enumerated() {
            do {
                let (shown, path) = try await take(step, in: id)
                let settled = try await endingTasks(shown)
                recording.keep()
                try await tell(place, .shown(settled, path: path))
            } catch let error
                where error is JourneyRefusal || error is JourneyError || error is TaskError
                || error is HeldResult
            {
                recording.drop()
                try await tell(place, .refused(error))
            }
        }
        return recording.kept
    }

    /// Ends the tasks that are given, one after the other, until the journey waits for none of them.
    private func endingTasks(_ shown: JourneyText) async throws -> JourneyText {
        var shown = shown
        var left = Self.mostTasks
        while !given.tasks.isEmpty, shown.view.screen?.isBusy == true, left > 0 {
            left -= 1
            var ended = false
            for (name, end) in given.tasks {
                for task in try await sessions.claimTasks(named: name, max: 1, lease: Self.decade, wait: 0) {
                    let end = try await sessions.endTask(task.task.id, outcome: end.outcome, output: end.output)
                    try checkIsTaken(end)
                    ended = true
                }
            }
            guard ended else { break }
            shown = try await session.journey(shown.view.id)
        }
        return shown
    }

    /// A script has no operator who could end a task that is held.
    private func checkIsTaken(_ end: TaskEnd) throws {
        if case .held(let problem) = end { throw HeldResult(problem) }
    }

    /// The tasks that were recorded since this was last asked, for which no journey waits.
    func newTasks() async throws -> [(name: String, input: JSONDocument)] {
        var new: [(name: String, input: JSONDocument)] = []
        for task in try await sessions.tasks(limit: Self.mostTasks) {
            guard let details = try await sessions.details(of: task), !details.isAwaited,
                seen.insert(task.id)
            else { continue }
            new.append((task.name, details.input))
        }
        return new
    }

    /// A flow may begin a task again whenever it ends.
    private static let mostTasks = 100

    /// The document of a service as the journey sees it; nil when there is no such service.
    func document(of name: String, inJourney id: String) async throws -> JSONDocument? {
        guard let service = catalog[name] else { return nil }
        return try JSONDocument(parsing: try await session.document(of: service, inJourney: id).bytes)
    }

    private func take(
        _ step: SimulationScript.Step, in id: String
    ) async throws -> (shown: JourneyText, path: [String]) {
        switch step {
        case .event(let name, let data, let isFromBackend):
            return (try await send(name, data, to: id, by: isFromBackend ? .backend : .client), [])
        case .task(let name, let outcome, let output):
            guard let task = try await sessions.claimTasks(named: name, max: 1, lease: Self.decade, wait: 0).first
            else { throw TaskError.notFound }
            try checkIsTaken(try await sessions.endTask(task.task.id, outcome: outcome, output: output ?? .null))
            return (try await session.journey(id), [])
        case .back: return (try await send("back", nil, to: id), [])
        case .navigate(let screen, let params):
            return try await session.navigate(journey: id, to: screen, params: params)
        case .user(let user):
            if let user {
                _ = try await sessions.attachUser(user, to: session)
            } else {
                try await sessions.detachUser(from: session)
            }
            return (try await session.journey(id), [])
        case .wait(let duration):
            return (try await wait(duration, in: id), [])
        }
    }

    /// Lets time pass as a server does, which looks at the journey whenever something is due.
    private func wait(_ duration: Duration, in id: String) async throws -> JourneyText {
        let end = clock.now().later(by: duration.milliseconds)
        for _ in 0..<Self.mostLooks {
            // A journey that is stuck stays due.
            guard let due = try await session.journey(id).dueAt, due > clock.now(), due < end else { break }
            clock.set(to: due)
        }
        clock.set(to: end)
        return try await session.journey(id)
    }

    /// A timer may come every second for years.
    private static let mostLooks = 10_000

    private func send(
        _ event: String, _ data: JSONDocument?, to id: String, by actor: JourneyActor = .client
    ) async throws -> JourneyText {
        do {
            return try await session.send(event, data: data, toJourney: id, by: actor)
        } catch JourneyError.preconditionRequired {
            var condition = WriteCondition.none
            condition.step = try await session.journey(id).view.step
            return try await session.send(event, data: data, toJourney: id, condition: condition, by: actor)
        }
    }

    private static let decade: Int64 = 3650 * 86_400_000
}

/// The transitions of a simulation: what a step took counts when the step was not refused.
private final class Recording: Sendable {
    private let state = Mutex<(kept: Set<TakenTransition>, new: Set<TakenTransition>)>(([], []))

    var kept: Set<TakenTransition> { state.withLock { $0.kept } }

    func add(_ taken: TakenTransition) { state.withLock { _ = $0.new.insert(taken) } }

    func keep() {
        state.withLock {
            $0.kept.formUnion($0.new)
            $0.new = []
        }
    }

    func drop() { state.withLock { $0.new = [] } }
}

/// The tasks that were shown.
private final class SeenTasks: Sendable {
    private let ids = Mutex<Set<TaskID>>([])

    /// - Returns: whether it is new.
    func insert(_ id: TaskID) -> Bool { ids.withLock { $0.insert(id).inserted } }
}

/// The time of a simulation: it begins now, and the script moves it.
final class SimulationClock: SessionClock {
    private let time: Atomic<Int64>

    init(startingAt start: Int64 = SystemClock().now()) { time = Atomic(start) }

    func now() -> Int64 { time.load(ordering: .relaxed) }

    func wall(at steady: Int64) -> Int64 { steady }

    /// A simulation does not wait.
    func sleep(milliseconds: Int64) async throws {}

    func set(to now: Int64) { time.store(now, ordering: .relaxed) }
}

/// How a simulation shows the journey's screen, or why a step was refused.
enum SimulationText {
    static func screen(_ journey: JourneyView) -> String {
        let message = journey.message.map { "  message \($0)\n" } ?? ""
        guard let screen = journey.screen else {
            let output = journey.output.flatMap { $0.isNull ? nil : $0.description }
            let end = [journey.status.rawValue, journey.outcome, output].compactMap(\.self)
            return "  \(end.joined(separator: " "))\n" + message
        }
        var lines = ["screen  \(screen.id)" + (screen.name == screen.id ? "" : " (\(screen.name))")]
        if screen.isBusy { lines[0] += ", busy" }
        if let title = screen.title { lines.append("title   \(title)") }
        if let params = screen.params { lines.append("params  \(params)") }
        lines += screen.data.map { "data    \($0.service) \($0.document)" }
        lines.append("stack   " + journey.stack.map(frame).joined(separator: ", "))
        let enabled = journey.events.filter(\.enabled).map(\.name)
        lines.append("events  " + (enabled.isEmpty ? "none" : enabled.joined(separator: ", ")))
        for event in journey.events where !event.enabled {
            lines.append("not     \(event.name): " + event.why.map(reason).joined(separator: "; "))
        }
        return lines.map { "  \($0)\n" }.joined() + message
    }

    /// - Throws: the error itself, when it is not about the step.
    static func refusal(_ error: any Error) throws -> String {
        let problem = try problem(of: error)
        let members = problem.members.map { "  \($0.name) \($0.value)\n" }
        let places = problem.errors.map { "  \(place($0.pointer))\($0.detail)\n" }
        return "  refused \(problem.kind.code): \(problem.detail)\n" + members.joined() + places.joined()
    }

    /// - Throws: the error itself, when it is not about the step.
    static func problem(of error: any Error) throws -> Problem {
        switch error {
        case let refusal as JourneyRefusal: Problem(refusal, ofJourneyAt: nil)
        case let error as JourneyError: Problem(error)
        case let error as TaskError: Problem(error)
        case let error as HeldResult: error.problem
        default: throw error
        }
    }

    private static func reason(_ violation: JSONViolation) -> String { place(violation.pointer) + violation.detail }

    /// A reason does not always have a place.
    private static func place(_ pointer: String) -> String { pointer.isEmpty ? "" : "\(pointer) " }

    private static func frame(_ frame: FrameView) -> String {
        "\(frame.flow)/\(frame.screen)" + (frame.presentation == .modal ? " (modal)" : "")
    }
}

/// A result that the flow cannot take. A server keeps it.
struct HeldResult: Error {
    let problem: Problem

    init(_ document: JSONDocument) {
        let kind = document[member: "code"]?.string.flatMap(ProblemKind.named) ?? .internalError
        let errors = (document[member: "errors"]?.elements ?? []).map { error in
            JSONViolation(
                pointer: error[member: "pointer"]?.string ?? "", detail: error[member: "detail"]?.string ?? "")
        }
        problem = Problem(kind, document[member: "detail"]?.string, errors: errors)
    }
}
