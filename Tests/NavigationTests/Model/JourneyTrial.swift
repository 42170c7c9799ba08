import FlowTools
import JSONDocument

@testable import Navigation

/// A journey by the engine and one by the model, side by side.
struct JourneyTrial {
    /// What they do not agree on.
    struct Difference: Error {
        let description: String
    }

    /// What was tried, and whether it was taken.
    typealias Attempt = (kind: String, isTaken: Bool)

    /// The engines of two servers.
    private let engines: [FlowEngine]
    var engine: FlowEngine { engines[moves % 2] }
    let flows: [ModelFlow]
    var generator: RandomFlows
    var services = FlagServices()
    var journey: Journey
    var model: ModelJourney
    /// Where the last step began.
    private(set) var before: Journey?
    private var flagsBefore: [String: [String: Bool]] = [:]
    var now = RandomFlows.start
    /// How often the journey has moved to another session.
    var moves = 0
    /// What has happened, for counting.
    var counts: [String: Int] = [:]

    /// Nil for flows that do not pass the checks, or cannot be started.
    init?(seed: UInt64) throws {
        generator = RandomFlows(seed: seed)
        let made = generator.make()
        flows = made
        let files = made.map { FlowFile(name: "\($0.id).json", bytes: $0.json(among: made).serialized()) }
        engines = try (0..<2).map { _ in
            let loaded = FlowLoader(services: ModelFlow.directory).load(files)
            guard let catalog = loaded.catalog else {
                throw Difference(description: loaded.problems.map { "\($0)" }.joined(separator: "\n"))
            }
            return FlowEngine(catalog: catalog)
        }
        model = ModelJourney(flows: flows, now: now)
        let isStarted = (try? model.start(0)) != nil
        guard let step = try? engines[0].start(flow: flows[0].id, id: "main", services: services, now: now) else {
            if isStarted { throw Difference(description: "the engine did not start") }
            return nil
        }
        guard isStarted else { throw Difference(description: "the model did not start") }
        journey = step.journey
        journey.step = 0
        try take(step, "start")
    }

    mutating func step() throws -> Attempt {
        services.forgetNotes()
        before = journey
        flagsBefore = model.session
        model.now = now
        if !journey.isActive || generator.happens(1, in: 40) {
            return generator.happens(1, in: 3)
                ? ("start in the middle", try startInTheMiddle()) : ("restart", try restart())
        }
        if model.isDue, generator.happens(3, in: 4) { return ("wait", try look("look at what is due")) }
        if journey.task != nil, generator.happens(2, in: 3) {
            switch generator.number(0...4) {
            case 0: return ("fail", try failTask())
            case 1: return try wait()
            default: return ("end of a task", try endTask())
            }
        }
        if generator.happens(1, in: 8) { return try wait() }
        if generator.happens(1, in: 12) { return ("navigate", try navigate()) }
        if generator.happens(1, in: 8) { return ("write", try write()) }
        if generator.happens(1, in: 24) { return ("move", try move()) }
        return try send()
    }

    private mutating func send() throws -> Attempt {
        let names = eventsHere()
        let event =
            generator.happens(1, in: 5) || names.isEmpty ? generator.pick(RandomFlows.events) : generator.pick(names)
        let challenge = generator.happens(1, in: 2) ? "c\(generator.number(1...9))" : nil
        let kind = event == "back" ? "back" : "event"
        let story = "\(event)"
        do {
            var step = try engine.send(event, to: journey, services: services, now: now)
            guard (try? model.send(event)) != nil else {
                throw Difference(description: "engine took, model refused \(story)")
            }
            if let challenge { step.journey.keepChallenge(challenge) }
            model.challenge(challenge)
            let shown = try engine.sendAndShow(
                event, data: nil, to: journey, challenge: challenge, services: services, now: now,
                knowing: GuardMemory(), timesMovedBy: 0)
            guard shown.step.journey == step.journey, shown.step.changes == step.changes,
                (shown.text == nil) != (step.changes + step.ownedChanges).isEmpty
            else { throw Difference(description: "shown with its step it is another step: \(story)") }
            try take(step, story)
            guard try model.isDue || (shown.text.map({ try $0.bytes == view() }) ?? true) else {
                throw Difference(description: "what came with the step is not what is shown: \(story)")
            }
            return (kind, true)
        } catch let refusal as JourneyRefusal {
            guard (try? model.send(event)) == nil else {
                throw Difference(description: "model took, engine refused \(story): \(refusal)")
            }
            try compare(story)
            return (kind, false)
        }
    }

    mutating func count(_ kind: String) { counts[kind, default: 0] += 1 }

    /// A flag is written from outside, or its service is removed.
    private mutating func write() throws -> Bool {
        let flag = generator.pick(RandomFlows.flags + RandomFlows.values)
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
        if let redated = engine.redated(journey, services: services, now: now) { journey = redated }
        return try look("write of \(flag) of \(service), \(written.map { "\($0)" } ?? "removed")")
    }

    private mutating func endTask() throws -> Bool {
        let outcome = generator.pick(["o0", "o1"])
        let flag = generator.happens(1, in: 2)
        let story = "end of the task with \(outcome) and \(flag)"
        return try endTask(
            story, isReported: true, outcome, ["flag": JSONDocument(flag)]
        ) { try $0.endTask(outcome, flag) }
    }

    /// The last attempt has failed. A flow that refuses that leaves the journey where it is, for an operator.
    private mutating func failTask() throws -> Bool {
        try endTask(
            "failure of the task", isReported: false, TaskState.failed, ["reason": "?", "attempts": 3]
        ) { try $0.endTask(TaskState.failed, nil) }
    }

    private mutating func endTask(
        _ story: String, isReported: Bool, _ outcome: String, _ output: JSONDocument,
        model end: (inout ModelJourney) throws -> Void
    ) throws -> Bool {
        let former = journey.task
        do {
            var step = try engine.endTask(
                former?.number ?? 0, of: journey, outcome: outcome, output: output, isReported: isReported,
                services: services, now: now)
            // A sign-in is asked for by whoever began the first of the tasks.
            step.journey.keepChallenge(former?.challenge)
            guard (try? end(&model)) != nil else {
                throw Difference(description: "engine took, model refused \(story)")
            }
            try take(step, story)
            if former?.isHeld ?? false { count("end of a held task") }
            if former?.challenge != nil, journey.task?.challenge != nil { count("challenge handed on") }
            return true
        } catch let refusal as JourneyRefusal {
            guard (try? end(&model)) == nil else {
                throw Difference(description: "model took, engine refused \(story): \(refusal)")
            }
            if refusal != .due, journey.task != nil, generator.happens(1, in: 2) {
                keep(outcome, output, isReported)
            }
            try compare(story)
            return false
        }
    }

    /// The result could not be taken: it is kept for as long as a better one may come, or held.
    private mutating func keep(_ outcome: String, _ output: JSONDocument, _ isReported: Bool) {
        let isHeld = model.isHeld || generator.happens(1, in: 2)
        count(isHeld ? "result held" : "result kept")
        model.keep(isHeld ? .held : .kept)
        journey.noteOfTask { notes in
            notes.result = KeptResult(
                outcome: outcome, output: output, problem: ["code": "?"], isHeld: isHeld, isReported: isReported,
                signIn: ["id": "u"])
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
            try take(step, story)
            return true
        } catch let refusal as JourneyRefusal {
            guard (try? model.restart(flow)) == nil else {
                throw Difference(description: "model took, engine refused \(story): \(refusal)")
            }
            try compare(story)
            return false
        }
    }

    /// Takes a step of the engine.
    ///
    /// - Parameter prospects: where the model may be; nil for where it is.
    mutating func take(_ step: Step, _ story: String, among prospects: [ModelJourney]? = nil) throws {
        guard step.journey.step == journey.step + 1 else {
            throw Difference(description: "the step did not grow: \(story)")
        }
        let former = journey.task?.number
        journey = try kept(step.journey, story)
        services.perform(step.changes)
        guard let prospects else { return try check(step, former, story) }
        var differences: [Difference] = []
        for prospect in prospects {
            model = prospect
            do { return try check(step, former, story) } catch let difference as Difference {
                differences.append(difference)
            }
        }
        throw differences.last ?? Difference(description: "engine took, model refused \(story)")
    }

    /// Each step is one of keeping journeys, too.
    func kept(_ journey: Journey, _ story: String) throws -> Journey {
        guard var kept = Journey(journey.document), kept == journey else {
            throw Difference(description: "what is kept is another journey: \(story)")
        }
        kept.stampOwned(revision: kept.step, at: now)
        return kept
    }

    private func check(_ step: Step, _ former: UInt64?, _ story: String) throws {
        let number = step.journey.task?.number
        guard number == nil || number == (model.hasBegun ? step.journey.step : former) else {
            throw Difference(description: "the task is that of step \(number ?? 0): \(story)")
        }
        try compare(story, isChanged: true)
        guard services.notes == model.notes else {
            throw Difference(description: "done was \(services.notes), by the model \(model.notes): \(story)")
        }
        let removed = step.ownedChanges.filter { $0.effect == .removed }.map(\.service)
        guard removed == model.removed else {
            throw Difference(description: "removed was \(removed), by the model \(model.removed): \(story)")
        }
    }

    func eventsHere() -> [String] {
        guard let top = model.frames.last, case .screen(let screen) = model.state(of: top) else { return [] }
        return screen.events.keys.sorted() + ["back"]
    }

    /// Where the last step began, for a difference.
    var scene: String { before.map { "\(describe($0)), before it \(flagsBefore)" } ?? "" }
}
