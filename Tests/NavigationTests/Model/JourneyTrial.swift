import JSONDocument

@testable import Navigation

/// A journey by the engine and one by the model, side by side.
struct JourneyTrial {
    /// What they do not agree on.
    struct Difference: Error {
        let description: String
    }

    private let engine: FlowEngine
    private let flows: [ModelFlow]
    private var chance: RandomFlows
    private var services: FlagService
    private var journey: Journey
    private var model: ModelJourney
    /// Where the last step began.
    private(set) var before: Journey?
    private var flagsBefore: [String: Bool] = [:]

    /// Nil for flows that do not pass the checks, or cannot be started.
    init?(seed: UInt64) throws {
        chance = RandomFlows(seed: seed)
        let made = chance.make()
        flows = made
        let files = made.map { FlowFile(name: "\($0.id).json", bytes: $0.json(among: made).serialized()) }
        let loaded = FlowLoader(services: ServiceDirectory([ServiceDirectory.Entry(name: "d")])).load(files)
        guard let catalog = loaded.catalog else {
            throw Difference(description: loaded.problems.map { "\($0)" }.joined(separator: "\n"))
        }
        engine = FlowEngine(catalog: catalog)
        services = FlagService()
        model = ModelJourney(flows: flows, flags: services.flags)
        let isStarted = (try? model.start(0)) != nil
        guard let step = try? engine.start(flow: flows[0].id, id: "main", services: services, now: 0) else {
            if isStarted { throw Difference(description: "the engine did not start") }
            return nil
        }
        guard isStarted else { throw Difference(description: "the model did not start") }
        journey = step.journey
        services.perform(step.changes)
        try compare("start")
    }

    /// - Returns: what was tried, and whether it was taken.
    mutating func step() throws -> (kind: String, isTaken: Bool) {
        services.forgetNotes()
        before = journey
        flagsBefore = model.flags
        if !journey.isActive || chance.happens(1, in: 40) {
            return chance.happens(1, in: 3)
                ? ("start in the middle", try startInTheMiddle()) : ("restart", try restart())
        }
        if journey.task != nil, chance.happens(1, in: 2) { return ("task", try endTask()) }
        if chance.happens(1, in: 12) { return ("navigate", try navigate()) }
        return try send()
    }

    private mutating func send() throws -> (kind: String, isTaken: Bool) {
        let names = eventsHere()
        let event = chance.happens(1, in: 5) || names.isEmpty ? chance.pick(RandomFlows.events) : chance.pick(names)
        let kind = event == "back" ? "back" : "event"
        let story = "\(event)"
        do {
            let step = try engine.send(event, to: journey, services: services, now: 0)
            guard (try? model.send(event)) != nil else {
                throw Difference(description: "engine took, model refused \(story)")
            }
            let shown = try engine.sendAndShow(
                event, data: nil, to: journey, services: services, now: 0, knowing: GuardMemory(), timesMovedBy: 0)
            guard shown.step.journey == step.journey, shown.step.changes == step.changes,
                (shown.text == nil) == !step.changes.isEmpty
            else { throw Difference(description: "shown with its step it is another step: \(story)") }
            let isTaken = try take(step, story)
            guard try shown.text.map({ try $0.bytes == view() }) ?? true else {
                throw Difference(description: "what came with the step is not what is shown: \(story)")
            }
            return (kind, isTaken)
        } catch let refusal as JourneyRefusal {
            guard (try? model.send(event)) == nil else {
                throw Difference(description: "model took, engine refused \(story): \(refusal)")
            }
            try compare(story)
            return (kind, false)
        }
    }

    private mutating func endTask() throws -> Bool {
        let outcome = chance.pick(["o0", "o1", "failed"])
        let story = "end of the task with \(outcome)"
        do {
            let step = try engine.endTask(
                journey.task?.number ?? 0, of: journey, outcome: outcome, services: services, now: 0)
            guard (try? model.endTask(outcome)) != nil else {
                throw Difference(description: "engine took, model refused \(story)")
            }
            return try take(step, story)
        } catch let refusal as JourneyRefusal {
            guard (try? model.endTask(outcome)) == nil else {
                throw Difference(description: "model took, engine refused \(story): \(refusal)")
            }
            try compare(story)
            return false
        }
    }

    private mutating func restart() throws -> Bool {
        let flow = chance.number(0...(flows.count - 1))
        let story = "restart with \(flow)"
        do {
            let step = try engine.restart(journey, flow: flows[flow].id, services: services, now: 0)
            guard (try? model.restart(flow)) != nil else {
                throw Difference(description: "engine took, model refused \(story)")
            }
            return try take(step, story)
        } catch let refusal as JourneyRefusal {
            guard (try? model.restart(flow)) == nil else {
                throw Difference(description: "model took, engine refused \(story): \(refusal)")
            }
            try compare(story)
            return false
        }
    }

    /// What the engine finds the model goes event by event.
    private mutating func navigate() throws -> Bool {
        let screen = ModelFlow.name(chance.number(0...5))
        let story = "navigation to \(screen)"
        do {
            let found = try engine.navigate(journey, to: screen, services: services, now: 0)
            guard journey.top?.state != screen else {
                guard found.path.isEmpty, found.step.journey == journey else {
                    throw Difference(description: "moved without need: \(story)")
                }
                return true
            }
            if eventLeading(to: screen) != nil, found.events.count(where: { $0 != "back" }) > 1 {
                throw Difference(description: "\(found.events) is too long: \(story)")
            }
            model.notes = []
            try follow(found, story)
            return try take(found.step, story)
        } catch is JourneyRefusal {
            if let event = eventLeading(to: screen) { throw Difference(description: "\(event) leads there: \(story)") }
            try compare(story)
            return false
        }
    }

    /// An event that leads straight to a screen and changes no data, if there is one.
    private func eventLeading(to screen: String) -> String? {
        (eventsHere() + RandomFlows.events).first { event in
            var other = model
            // Navigation starts no task.
            guard (try? other.send(event)) != nil, other.flags == model.flags, !other.isBusy,
                let top = other.frames.last
            else { return false }
            return ModelFlow.name(top.state) == screen
        }
    }

    private mutating func startInTheMiddle() throws -> Bool {
        let flow = chance.number(0...(flows.count - 1))
        let screen = ModelFlow.name(chance.number(0...5))
        let story = "start of \(flow) at \(screen)"
        do {
            let found = try engine.start(flow: flows[flow].id, id: "main", at: screen, services: services, now: 0)
            model = ModelJourney(flows: flows, flags: model.flags)
            guard (try? model.start(flow)) != nil else {
                throw Difference(description: "the model did not start: \(story)")
            }
            try follow(found, story)
            journey = found.step.journey
            journey.step -= 1
            return try take(found.step, story)
        } catch is JourneyRefusal {
            return false
        }
    }

    /// The model goes event by event where the engine has gone in one step.
    private mutating func follow(_ found: FlowEngine.Navigation, _ story: String) throws {
        var notes = model.notes
        for (event, screen) in zip(found.events, found.path) {
            guard (try? model.send(event)) != nil else {
                throw Difference(description: "the model refused \(event) of \(found.events): \(story)")
            }
            notes += model.notes
            guard model.frames.last.map({ ModelFlow.name($0.state) }) == screen else {
                throw Difference(description: "\(event) did not lead to \(screen): \(story)")
            }
        }
        model.notes = notes
    }

    private mutating func take(_ step: Step, _ story: String) throws -> Bool {
        guard step.journey.step == journey.step + 1 else {
            throw Difference(description: "the step did not grow: \(story)")
        }
        journey = step.journey
        services.perform(step.changes)
        try compare(story)
        guard services.notes == model.notes else {
            throw Difference(description: "done was \(services.notes), by the model \(model.notes): \(story)")
        }
        return true
    }

    private func eventsHere() -> [String] {
        guard let top = model.frames.last, case .screen(let screen) = model.state(of: top) else { return [] }
        return screen.events.keys.sorted() + ["back"]
    }

    // MARK: - Comparing

    /// The view of the journey.
    private func view() throws -> [UInt8] {
        try engine.textAndMemory(
            journey, services: services, now: 0, knowing: GuardMemory(), timesMovedBy: 0
        ).text.bytes
    }

    private func compare(_ story: String) throws {
        _ = try view()
        func fail(_ what: String) -> Difference {
            Difference(description: "\(what): \(story)\n  engine \(describe(journey))\n  model  \(describeModel())")
        }
        if let flaw = engine.flaw(of: journey) { throw fail("\(flaw)") }
        guard journey.isActive == !model.coordinators.isEmpty else { throw fail("status") }
        guard (journey.task != nil) == model.isBusy else { throw fail("task") }
        guard journey.isActive || journey.outcome == model.outcome else { throw fail("outcome") }
        guard journey.frames.count == model.frames.count else { throw fail("frames") }
        guard journey.coordinators.count == model.coordinators.count else { throw fail("coordinators") }
        var counterparts: [Int: Int] = [:]
        for (place, (frame, other)) in zip(journey.frames, model.frames).enumerated() {
            guard frame.state == ModelFlow.name(other.state), frame.presentation == other.presentation else {
                throw fail("frame \(place)")
            }
            try pair(frame.coordinator, other.coordinator, &counterparts, fail)
            let isSealed = journey.frames[place...].contains { $0.mark == .invalidated }
            guard isSealed == model.frames[place...].contains(where: \.isSealed) else { throw fail("sealed \(place)") }
            guard isSealed || (frame.mark == .discarded) == other.isSkipped else { throw fail("skipped \(place)") }
        }
        // Live coordinators are the ones with frames.
        guard counterparts.count == journey.coordinators.count else { throw fail("coordinators without frames") }
        guard services.flags == model.flags else { throw fail("flags") }
    }

    /// Notes who corresponds to whom, up to the top of the tree, which must be the same each time.
    private func pair(
        _ one: Int, _ other: Int, _ counterparts: inout [Int: Int], _ fail: (String) -> Difference
    ) throws {
        if let known = counterparts[one] {
            guard known == other else { throw fail("coordinator \(one)") }
            return
        }
        guard !counterparts.values.contains(other) else { throw fail("coordinator \(one)") }
        counterparts[one] = other
        guard let left = journey.coordinator(one) else { throw fail("no coordinator \(one)") }
        let right = model.coordinator(other)
        guard left.flow == flows[right.flow].id, left.startedBy == right.startedBy.map(ModelFlow.name) else {
            throw fail("coordinator \(one)")
        }
        switch (left.parent, right.parent) {
        case (nil, nil): break
        case (let one?, let other?): try pair(one, other, &counterparts, fail)
        default: throw fail("parent of \(one)")
        }
    }

    /// Where the last step began, for a difference.
    var scene: String { before.map { "\(describe($0)), before it \(flagsBefore)" } ?? "" }

    private func describe(_ journey: Journey) -> String {
        let frames = journey.frames.map { "\($0.coordinator).\($0.state)(\($0.presentation) \($0.mark))" }
        let coordinators = journey.coordinators.map { "\($0.id)=\($0.flow)<\($0.parent ?? -1)" }
        return "\(frames) \(coordinators) \(services.flags.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" })"
    }

    private func describeModel() -> String {
        let frames = model.frames.map {
            "\($0.coordinator).s\($0.state)(\($0.presentation)\($0.isSkipped ? " skipped" : "")\($0.isSealed ? " sealed" : ""))"
        }
        let coordinators = model.coordinators.map { "\($0.id)=f\($0.flow)<\($0.parent ?? -1)" }
        return "\(frames) \(coordinators) \(model.flags.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" })"
    }
}

/// The one service that random flows know: flags, and notes.
private struct FlagService: ServiceDocuments {
    private var state: JSONDocument = ["a": true, "b": false, "c": true, "notes": .emptyArray]

    var flags: [String: Bool] {
        Dictionary(uniqueKeysWithValues: RandomFlows.flags.map { ($0, state[member: $0]?.bool ?? false) })
    }

    var notes: [String] { (state[member: "notes"]?.elements ?? []).compactMap(\.string) }

    mutating func forgetNotes() {
        guard !notes.isEmpty else { return }
        state = state.merging(["notes": .emptyArray])
    }

    mutating func perform(_ changes: [ServiceChange]) {
        for case .written(let document) in changes.map(\.effect) { state = document }
    }

    func document(of service: String) -> JSONDocument? { service == "d" ? state : nil }

    func defaultDocument(of service: String) -> JSONDocument? { service == "d" ? FlagService().state : nil }

    func violations(of document: JSONDocument, in service: String) -> [JSONViolation] { [] }
}
