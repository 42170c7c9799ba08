import FlowTools
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
    private var generator: RandomFlows
    private var services = FlagServices()
    private var journey: Journey
    private var model: ModelJourney
    /// Where the last step began.
    private(set) var before: Journey?
    private var flagsBefore: [String: [String: Bool]] = [:]
    private var now: Int64 = 1_000_000

    /// Nil for flows that do not pass the checks, or cannot be started.
    init?(seed: UInt64) throws {
        generator = RandomFlows(seed: seed)
        let made = generator.make()
        flows = made
        let files = made.map { FlowFile(name: "\($0.id).json", bytes: $0.json(among: made).serialized()) }
        let loaded = FlowLoader(services: ModelFlow.directory).load(files)
        guard let catalog = loaded.catalog else {
            throw Difference(description: loaded.problems.map { "\($0)" }.joined(separator: "\n"))
        }
        engine = FlowEngine(catalog: catalog)
        model = ModelJourney(flows: flows, now: now)
        let isStarted = (try? model.start(0)) != nil
        guard let step = try? engine.start(flow: flows[0].id, id: "main", services: services, now: now) else {
            if isStarted { throw Difference(description: "the engine did not start") }
            return nil
        }
        guard isStarted else { throw Difference(description: "the model did not start") }
        journey = step.journey
        journey.step = 0
        _ = try take(step, "start")
    }

    /// - Returns: what was tried, and whether it was taken.
    mutating func step() throws -> (kind: String, isTaken: Bool) {
        services.forgetNotes()
        before = journey
        flagsBefore = model.session
        if !journey.isActive || generator.happens(1, in: 40) {
            return generator.happens(1, in: 3)
                ? ("start in the middle", try startInTheMiddle()) : ("restart", try restart())
        }
        if journey.task != nil, generator.happens(2, in: 3) {
            switch generator.number(0...4) {
            case 0: return ("fail", try failTask())
            case 1: return ("wait", try wait())
            default: return ("end of a task", try endTask())
            }
        }
        if generator.happens(1, in: 12) { return ("wait", try wait()) }
        if generator.happens(1, in: 12) { return ("navigate", try navigate()) }
        if generator.happens(1, in: 8) { return ("write", try write()) }
        return try send()
    }

    private mutating func send() throws -> (kind: String, isTaken: Bool) {
        let names = eventsHere()
        let event =
            generator.happens(1, in: 5) || names.isEmpty ? generator.pick(RandomFlows.events) : generator.pick(names)
        let kind = event == "back" ? "back" : "event"
        let story = "\(event)"
        do {
            let step = try engine.send(event, to: journey, services: services, now: now)
            guard (try? model.send(event)) != nil else {
                throw Difference(description: "engine took, model refused \(story)")
            }
            let shown = try engine.sendAndShow(
                event, data: nil, to: journey, services: services, now: now, knowing: GuardMemory(),
                timesMovedBy: 0)
            guard shown.step.journey == step.journey, shown.step.changes == step.changes,
                (shown.text == nil) != (step.changes + step.ownedChanges).isEmpty
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

    /// A flag is written from outside, or its service is removed.
    private mutating func write() throws -> Bool {
        let flag = generator.pick(RandomFlows.flags)
        let service = ModelFlow.service(of: flag)
        let top = model.frames.last?.coordinator
        let value = !(model.flags(of: service, seenBy: top)[flag] ?? false)
        let written = generator.happens(3, in: 4) ? value : nil
        model.write(flag, written)
        if let level = engine.owners(in: journey).level(of: service) {
            let former =
                journey.owned(service, by: level.coordinator)?.document ?? services.defaultDocument(of: service)
            let document = written.flatMap { FlagServices.setting(flag, $0, in: former) }
            journey.setOwned(service, of: level.coordinator, to: document)
        } else {
            services.state[service] =
                written.flatMap { FlagServices.setting(flag, $0, in: services.document(of: service)) }
        }
        return try look("write of \(flag) of \(service), \(written.map { "\($0)" } ?? "removed")")
    }

    /// Time passes, so that tasks may be over.
    private mutating func wait() throws -> Bool {
        now += Int64(generator.number(1...4) * 10_000)
        model.now = now
        return try look("wait")
    }

    /// What follows from data and time follows at the next look, and before any event.
    private mutating func look(_ story: String) throws -> Bool {
        let step = try engine.advance(journey, services: services, now: now)
        let isDue = [
            isDue { _ = try $0.view() } || engine.isDue(journey, now: now), isDue { try $0.sendNext() },
        ]
        let isMoved = try model.look()
        guard (step != nil) == isMoved, isDue.allSatisfy({ $0 == isMoved }) else {
            throw Difference(
                description: "due for the view and an event is \(isDue), by the model \(isMoved): \(story)")
        }
        guard let step else {
            try compare(story)
            return false
        }
        return try take(step, story)
    }

    private mutating func endTask() throws -> Bool {
        let outcome = generator.pick(["o0", "o1"])
        let flag = generator.happens(1, in: 2)
        let story = "end of the task with \(outcome) and \(flag)"
        do {
            let step = try engine.endTask(
                journey.task?.number ?? 0, of: journey, outcome: outcome, output: ["flag": JSONDocument(flag)],
                services: services, now: now)
            guard (try? model.endTask(outcome, flag)) != nil else {
                throw Difference(description: "engine took, model refused \(story)")
            }
            return try take(step, story)
        } catch let refusal as JourneyRefusal {
            guard (try? model.endTask(outcome, flag)) == nil else {
                throw Difference(description: "model took, engine refused \(story): \(refusal)")
            }
            try compare(story)
            return false
        }
    }

    /// The last attempt has failed. A flow that refuses that leaves the journey where it is, for an operator.
    private mutating func failTask() throws -> Bool {
        do {
            let step = try engine.endTask(
                journey.task?.number ?? 0, of: journey, outcome: TaskState.failed,
                output: ["reason": "?", "attempts": 3], isReported: false, services: services, now: now)
            guard (try? model.endTask(TaskState.failed, nil)) != nil else {
                throw Difference(description: "engine took, model refused a failure")
            }
            return try take(step, "failure of the task")
        } catch let refusal as JourneyRefusal {
            guard (try? model.endTask(TaskState.failed, nil)) == nil else {
                throw Difference(description: "model took, engine refused a failure: \(refusal)")
            }
            try compare("failure of the task")
            return false
        }
    }

    private func sendNext() throws {
        _ = try engine.send("next", to: journey, services: services, now: now)
    }

    private func isDue(_ use: (JourneyTrial) throws -> Void) -> Bool {
        do {
            try use(self)
            return false
        } catch {
            return error as? JourneyRefusal == .due
        }
    }

    private mutating func restart() throws -> Bool {
        let flow = generator.number(0...(flows.count - 1))
        let story = "restart with \(flow)"
        do {
            let step = try engine.restart(journey, flow: flows[flow].id, services: services, now: now)
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
        let screen = ModelFlow.name(generator.number(0...5))
        let story = "navigation to \(screen)"
        do {
            let found = try engine.navigate(journey, to: screen, services: services, now: now)
            guard journey.top?.state != screen else {
                guard found.path.isEmpty, found.step.journey == journey else {
                    throw Difference(description: "moved without need: \(story)")
                }
                return true
            }
            if eventLeading(to: screen) != nil, found.events.count(where: { $0 != "back" }) > 1 {
                throw Difference(description: "\(found.events) is too long: \(story)")
            }
            (model.notes, model.removed) = ([], [])
            try follow(found, story)
            return try take(found.step, story)
        } catch let refusal as JourneyRefusal {
            if let event = eventLeading(to: screen) {
                throw Difference(description: "\(event) leads there: \(story): \(refusal)")
            }
            try compare(story)
            return false
        }
    }

    /// An event that leads straight to a screen and changes no data, if there is one.
    private func eventLeading(to screen: String) -> String? {
        (eventsHere() + RandomFlows.events).first { event in
            var other = model
            // A link starts no task. The search for one runs no actions, so it does not see that these are refused.
            guard (try? other.send(event, asLink: true)) != nil, !other.hasWritten, !other.hasBegun,
                !other.isHeldBack, let top = other.frames.last
            else { return false }
            return ModelFlow.name(top.state) == screen
        }
    }

    private mutating func startInTheMiddle() throws -> Bool {
        let flow = generator.number(0...(flows.count - 1))
        let screen = ModelFlow.name(generator.number(0...5))
        let story = "start of \(flow) at \(screen)"
        do {
            let found = try engine.start(flow: flows[flow].id, id: "main", at: screen, services: services, now: now)
            let session = model.session
            model = ModelJourney(flows: flows, now: now)
            model.session = session
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
        var (notes, removed) = (model.notes, model.removed)
        for (event, screen) in zip(found.events, found.path) {
            guard (try? model.send(event, asLink: true)) != nil else {
                throw Difference(description: "the model refused \(event) of \(found.events): \(story)")
            }
            notes += model.notes
            removed += model.removed
            guard model.frames.last.map({ ModelFlow.name($0.state) }) == screen else {
                throw Difference(description: "\(event) did not lead to \(screen): \(story)")
            }
        }
        (model.notes, model.removed) = (notes, removed)
    }

    private mutating func take(_ step: Step, _ story: String) throws -> Bool {
        guard step.journey.step == journey.step + 1 else {
            throw Difference(description: "the step did not grow: \(story)")
        }
        let number = step.journey.task?.number
        guard number == nil || number == (model.hasBegun ? step.journey.step : journey.task?.number) else {
            throw Difference(description: "the task is that of step \(number ?? 0): \(story)")
        }
        // Each step is one of keeping journeys, too.
        guard var kept = Journey(step.journey.document), kept == step.journey else {
            throw Difference(description: "what is kept is another journey: \(story)")
        }
        kept.stampOwned(revision: kept.step, at: now)
        journey = kept
        services.perform(step.changes)
        try compare(story, isChanged: true)
        guard services.notes == model.notes else {
            throw Difference(description: "done was \(services.notes), by the model \(model.notes): \(story)")
        }
        let removed = step.ownedChanges.filter { $0.effect == .removed }.map(\.service)
        guard removed == model.removed else {
            throw Difference(description: "removed was \(removed), by the model \(model.removed): \(story)")
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

    private func compare(_ story: String, isChanged: Bool = false) throws {
        func fail(_ what: String) -> Difference {
            Difference(description: "\(what): \(story)\n  engine \(describe(journey))\n  model  \(describeModel())")
        }
        if let flaw = engine.flaw(of: journey) { throw fail("\(flaw)") }
        guard journey.isActive == !model.coordinators.isEmpty else { throw fail("status") }
        guard (journey.status == .expired) == model.isExpired else { throw fail("expired") }
        guard journey.isActive || journey.outcome == model.outcome else { throw fail("outcome") }
        guard journey.task?.input[member: "flag"]?.bool == model.task?.flag else { throw fail("task") }
        guard journey.frames.count == model.frames.count else { throw fail("frames") }
        guard journey.coordinators.count == model.coordinators.count else { throw fail("coordinators") }
        var counterparts: [Int: Int] = [:]
        for (place, (frame, other)) in zip(journey.frames, model.frames).enumerated() {
            guard frame.state == ModelFlow.name(other.state), frame.presentation == other.presentation else {
                throw fail("frame \(place)")
            }
            guard frame.params?[member: "number"]?.int == other.number else { throw fail("params of \(place)") }
            try pair(frame.coordinator, other.coordinator, &counterparts, fail)
            let isSealed = journey.frames[place...].contains { $0.mark == .invalidated }
            guard isSealed == model.frames[place...].contains(where: \.isSealed) else { throw fail("sealed \(place)") }
            guard isSealed || (frame.mark == .discarded) == other.isSkipped else { throw fail("skipped \(place)") }
        }
        // Live coordinators are the ones with frames.
        guard counterparts.count == journey.coordinators.count else { throw fail("coordinators without frames") }
        guard services.flags == model.session else { throw fail("flags") }
        guard journey.owned.count == model.owned.count else { throw fail("owned") }
        for (one, other) in zip(journey.owned, model.owned) {
            guard counterparts[one.coordinator] == other.coordinator, one.name == other.service,
                FlagServices.flags(of: one.document) == other.flags
            else { throw fail("owned \(one.name)") }
        }
        guard isChanged else { return }
        let view = JourneyView(json: try view())
        for service in ModelFlow.services.keys {
            guard let shown = view.screen?[service] else { continue }
            guard FlagServices.flags(of: shown) == model.flags(of: service, seenBy: model.frames.last?.coordinator)
            else { throw fail("shown \(service)") }
        }
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
        let owned = journey.owned.map { "\($0.coordinator).\($0.name)=\($0.document)" }
        return "\(frames) \(coordinators) \(services.flags) \(owned) \(journey.task?.input ?? .null)"
    }

    private func describeModel() -> String {
        let frames = model.frames.map {
            "\($0.coordinator).s\($0.state)(\($0.presentation)\($0.isSkipped ? " skipped" : "")\($0.isSealed ? " sealed" : ""))"
        }
        let coordinators = model.coordinators.map { "\($0.id)=f\($0.flow)<\($0.parent ?? -1)" }
        let owned = model.owned.map { "\($0.coordinator).\($0.service)=\($0.flags)" }
        return "\(frames) \(coordinators) \(model.session) \(owned) \(model.task?.flag ?? false)"
    }
}

/// The services that random flows know: those of the model, and notes.
private struct FlagServices: ServiceDocuments {
    /// Those that were written.
    var state: [String: JSONDocument] = [:]

    private static let defaults: [String: JSONDocument] = [
        "d": ["a": true, "b": false], "k": ["c": true, "n": "?"], "log": ["notes": []],
    ]

    var flags: [String: [String: Bool]] {
        Dictionary(uniqueKeysWithValues: ModelFlow.services.keys.map { ($0, Self.flags(of: document(of: $0))) })
    }

    /// Whether the number is one counts as a flag.
    static func flags(of document: JSONDocument?) -> [String: Bool] {
        Dictionary(
            uniqueKeysWithValues: (document?.members ?? []).map { ($0.name, $0.value.bool ?? ($0.value == 3.5)) })
    }

    static func setting(_ flag: String, _ value: Bool, in document: JSONDocument?) -> JSONDocument? {
        document?.merging(JSONDocument(members: [(name: flag, value: JSONDocument(value))]))
    }

    var notes: [String] { (document(of: "log")?[member: "notes"]?.elements ?? []).compactMap(\.string) }

    mutating func forgetNotes() { state["log"] = nil }

    mutating func perform(_ changes: [ServiceChange]) {
        for change in changes {
            if case .written(let document) = change.effect {
                state[change.service] = document
            } else {
                state[change.service] = nil
            }
        }
    }

    func document(of service: String) -> JSONDocument? { state[service] ?? Self.defaults[service] }

    func defaultDocument(of service: String) -> JSONDocument? { Self.defaults[service] }

    func violations(of document: JSONDocument, in service: String) -> [JSONViolation] { [] }

    func call(
        _ command: String, of service: String, with input: JSONDocument?,
        reading document: @escaping (String) -> JSONDocument?, isLive: @escaping (String) -> Bool?
    ) throws(CommandRefusal) -> CommandResult {
        guard let flag = input?[member: "flag"]?.string, let was = document(service)?[member: flag]?.bool,
            let state = Self.setting(flag, !was, in: document(service))
        else { throw CommandRefusal([]) }
        return CommandResult(
            output: JSONDocument(was), changes: [ServiceChange(service: service, effect: .written(state))])
    }
}
