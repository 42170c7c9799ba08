import JSONDocument

@testable import Navigation

/// Time that passes, and what it does.
extension JourneyTrial {
    /// Times that pass between two looks.
    private enum Wait: String, CaseIterable {
        case some = "wait"
        case toDue = "wait until it is due"
        case beforeDue = "wait until just before it is due"
        case tooLong = "wait much too long"
        case back = "clock turned back"
    }

    mutating func wait() throws -> Attempt {
        let wait = generator.pick(Wait.allCases + [.some, .toDue])
        switch wait {
        case .some: now += Int64(generator.number(1...4)) * RandomFlows.tick
        case .tooLong: now += 10 * RandomFlows.tick + Int64(generator.number(0...20_000))
        case .back: now -= Int64(generator.number(1...3)) * RandomFlows.tick - Int64(generator.number(0...1))
        case .toDue, .beforeDue:
            // No longer than what the engine plays in one step.
            guard let due = model.dueAt, due > now, due < now + 12 * RandomFlows.tick else { return try self.wait() }
            now = wait == .toDue ? due : due - 1
        }
        model.now = now
        // A moment of the data that has passed may have been noticed later than now.
        return (wait.rawValue, try look(wait.rawValue, isKnown: wait != .back))
    }

    /// What follows from data and time follows at the next look, and before any event.
    ///
    /// - Parameter isKnown: whether the journey knows since its last step when it is due.
    mutating func look(_ story: String, isKnown: Bool = true) throws -> Bool {
        let isExpected = try model.isDue || model.unprompted() != nil
        let isDue = [
            isDue { _ = try $0.view() } || engine.isDue(journey, now: now), isDue { try $0.sendNext() },
        ]
        guard !isKnown || isDue.allSatisfy({ $0 == isExpected }) else {
            throw Difference(
                description: "due for the view and an event is \(isDue), by the model \(isExpected): \(story)")
        }
        let step = try engine.advance(journey, services: services, now: now)
        let isMoved = try model.look()
        for event in model.timeEvents { count(event.rawValue) }
        guard let step, step.journey.step != journey.step else {
            guard !isMoved else { throw Difference(description: "the model moved, the engine did not: \(story)") }
            // Only the time may be another, at which something happens next.
            if let step { journey = try kept(step.journey, story) }
            guard step?.changes.isEmpty ?? true else {
                throw Difference(description: "changed without a step: \(story)")
            }
            try compare(story)
            return false
        }
        guard isMoved else { throw Difference(description: "the engine moved, the model did not: \(story)") }
        try take(step, story)
        return true
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
}
