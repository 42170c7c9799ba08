import JSONDocument

@testable import Navigation

/// Journeys that are led to a screen, and that go on in another session.
extension JourneyTrial {
    /// The journey goes on in another session: as what is kept of it, with what it owns, its timers and its task. The
    /// services that it does not own are those of the other session.
    ///
    /// - Returns: false while somebody signs in, who must get the new token.
    mutating func move() throws -> Bool {
        if model.isDue { _ = try look("look before a move") }
        guard journey.isActive, journey.task?.challenge == nil else { return false }
        let former = journey
        moves += 1
        var other = FlagServices()
        for flag in RandomFlows.flags + RandomFlows.values where generator.happens(1, in: 2) {
            let service = ModelFlow.service(of: flag)
            other.state[service] = FlagServices.setting(
                flag, generator.happens(1, in: 2), in: other.document(of: service))
        }
        other.state["log"] = services.state["log"]
        services = other
        guard var arrived = Journey(former.document)?.renamed("place\(moves)") else {
            throw Difference(description: "what is kept of a journey that moves cannot be read")
        }
        arrived.raiseOwned(to: former.step + 7)
        arrived = arrived.continuing(after: UInt64(generator.number(0...9))).withTask(of: former)
        arrived.noteOfTask { notes in
            notes.hasMoved = true
            notes.result?.isHeld = true
        }
        count(former.task == nil ? "move" : former.task?.result == nil ? "move with a task" : "move with a result")
        if former.timers != nil { count("move with timers that have rung") }
        if former.dueAt != nil { count("move with a time to come") }
        journey = arrived
        model.move(to: services.flags)
        _ = try look("look at the new place", isKnown: false)
        return true
    }

    /// What the engine finds the model goes event by event.
    mutating func navigate() throws -> Bool {
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
            try take(found.step, story, among: try follow(found, story))
            return true
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

    mutating func startInTheMiddle() throws -> Bool {
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
            let prospects = try follow(found, story)
            journey = found.step.journey
            journey.step -= 1
            try take(found.step, story, among: prospects)
            return true
        } catch is JourneyRefusal {
            return false
        }
    }

    /// The model goes event by event where the engine has gone in one step.
    private func follow(_ found: FlowEngine.Navigation, _ story: String) throws -> [ModelJourney] {
        var prospects = [model]
        for (event, screen) in zip(found.events, found.path) {
            prospects = prospects.flatMap { former in
                var here = former
                // What is due comes after the step.
                here.dueAt = nil
                return here.prospects(of: event).map { next in
                    var next = next
                    next.notes = former.notes + next.notes
                    next.removed = former.removed + next.removed
                    return next
                }
            }.filter { $0.frames.last.map { ModelFlow.name($0.state) } == screen }
            guard !prospects.isEmpty else {
                throw Difference(description: "\(event) of \(found.events) does not lead to \(screen): \(story)")
            }
        }
        return prospects
    }
}
