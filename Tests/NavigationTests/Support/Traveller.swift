import FlowTools
import JSONDocument
import Navigation
import Testing

/// Somebody on a journey: keeps it and the services, and does what each step says.
struct Traveller {
    var engine: FlowEngine
    var journey: Journey
    var services: TestServices
    var now: Int64
    /// What happened in the last step.
    /// What the last step took: flow and place.
    var taken: [String] = []
    var ownedChanges: [ServiceChange] = []
    var changes: [ServiceChange] = []
    /// What the last step has found out about guards.
    private var memory = GuardMemory()

    static let start: Int64 = 1_767_225_600_000

    /// Loads flows and starts the first of them.
    init(
        _ flows: JSONDocument..., input: JSONDocument = .emptyObject, services: TestServices = TestServices(),
        orphans: FlowEngine.OrphanPolicy = .refuse
    ) throws {
        let first = try #require(flows.first?[member: "id"]?.string)
        let version = flows.first?[member: "version"]?.int
        engine = FlowEngine(catalog: try Self.catalog(flows), orphans: orphans)
        self.services = services
        now = Self.start
        let step = try engine.start(
            flow: first, version: version, id: "main", input: input, services: services, now: now)
        journey = step.journey
        keep(step)
    }

    static func catalog(_ flows: [JSONDocument]) throws -> FlowCatalog {
        let files = flows.map { flow in
            let name = "\(flow[member: "id"]?.string ?? "")-\(flow[member: "version"]?.int ?? 0).json"
            return FlowFile(name: name, bytes: flow.serialized())
        }
        let (catalog, problems) = FlowLoader(services: TestServices.directory).load(files)
        return try #require(catalog, "\(problems.map(\.description))")
    }

    private mutating func keep(_ step: Step) {
        services.perform(step.changes)
        // Each test is one of keeping journeys, too.
        let kept = Journey(step.journey.document)
        #expect(kept == step.journey)
        #expect(Self.read(step.journey.json) == step.journey)
        expectWhole(step.journey)
        journey = kept ?? step.journey
        (taken, ownedChanges) = (step.taken.map { "\($0.flow) \($0.place)" }, step.ownedChanges)
        changes = step.changes
        memory = step.memory
    }

    private static func read(_ text: [UInt8]) -> Journey? {
        guard var reader = try? JSONReader(text) else { return nil }
        return try? Journey(reading: &reader)
    }

    /// The live coordinators are the ones with frames; the stack has one root, at its bottom.
    private func expectWhole(_ journey: Journey) {
        var alive = Set(journey.frames.map(\.coordinator))
        for coordinator in journey.coordinators.reversed() where alive.contains(coordinator.id) {
            if let parent = coordinator.parent { alive.insert(parent) }
        }
        #expect(alive == Set(journey.coordinators.map(\.id)))
        #expect(journey.frames.indices.allSatisfy { (journey.frames[$0].presentation == .root) == ($0 == 0) })
        #expect(journey.isActive == !journey.frames.isEmpty)
    }

    mutating func send(_ event: String, _ data: JSONDocument? = nil) throws {
        let before = journey
        let step = try engine.send(event, data: data, to: journey, services: services, now: now)
        let (same, text) = try engine.sendAndShow(
            event, data: data, to: before, services: services, now: now, knowing: memory, timesMovedBy: 7)
        #expect(same.journey == step.journey && same.changes == step.changes)
        // What is written is applied before it is shown; what a journey owns may be written as it was.
        let isWritten = !step.changes.isEmpty || step.journey.owned != before.owned
        #expect(isWritten ? text == nil : text != nil || !before.owned.isEmpty)
        keep(step)
        if let text { try expect(text, shows: try engine.view(journey, services: services, now: now)) }
    }

    /// A text is the view's, by a clock that is seven milliseconds ahead.
    private func expect(_ text: ViewText, shows view: JourneyView) throws {
        let moved = JourneyView(json: text.bytes)
        #expect(moved.startedAt == view.startedAt + 7 && moved.expiresAt == view.expiresAt.map { $0 + 7 })
        #expect(moved.dueAt == view.dueAt.map { $0 + 7 })
        let times: JSONDocument = ["started_at": nil, "expires_at": nil, "due_at": nil]
        let (one, other) = (try JSONDocument(parsing: moved.json), try JSONDocument(parsing: view.json))
        #expect(one.merging(times) == other.merging(times))
    }

    mutating func back() throws { try send("back") }

    /// Ends the task that the journey waits for, or one of that number.
    mutating func endTask(_ outcome: String, _ output: JSONDocument = .null, number: UInt64? = nil) throws {
        keep(
            try engine.endTask(
                number ?? journey.task?.number ?? 0, of: journey, outcome: outcome, output: output, services: services,
                now: now))
    }

    mutating func restart(_ flow: String, input: JSONDocument = .emptyObject) throws {
        keep(try engine.restart(journey, flow: flow, input: input, services: services, now: now))
    }

    mutating func abandon() {
        let step = engine.abandon(journey, services: services, now: now)
        services.perform(step.changes)
        journey = step.journey
        (taken, ownedChanges) = (step.taken.map { "\($0.flow) \($0.place)" }, step.ownedChanges)
    }

    /// Lets time pass, and what it brings about happen.
    mutating func wait(_ milliseconds: Int64) throws {
        now += milliseconds
        if let step = try engine.advance(journey, services: services, now: now) { keep(step) }
    }

    /// The same whether the last step is remembered or not.
    func view() throws -> JourneyView {
        let view = try engine.view(journey, services: services, now: now)
        #expect(try engine.view(journey, services: services, now: now, knowing: memory) == view)
        let shown = try engine.textAndMemory(
            journey, services: services, now: now, knowing: memory, timesMovedBy: 7)
        try expect(shown.text, shows: view)
        return view
    }

    /// The refusal of an event; fails when it is accepted.
    func refusal(of event: String, _ data: JSONDocument? = nil) -> JourneyRefusal? {
        do {
            _ = try engine.send(event, data: data, to: journey, services: services, now: now)
            return nil
        } catch {
            return error
        }
    }

    var screen: String? { journey.top?.state }

    /// The states on the stack, modal ones with a `^`.
    var stack: [String] { journey.frames.map { ($0.presentation == .modal ? "^" : "") + $0.state } }

    var flows: [String] { journey.coordinators.map(\.flow) }
}
