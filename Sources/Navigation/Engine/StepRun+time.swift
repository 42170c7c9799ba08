import JSONDocument

extension StepRun {
    /// Screens that replace each other every second need not all be played after a night without requests.
    private static let maximumTimeouts = 64

    /// Sets when the journey expires, and when the first timeout is due, unless the journey moves before.
    mutating func setDeadlines() throws(JourneyRefusal) {
        journey.expiresAt = nil
        journey.dueAt = nil
        guard journey.isActive, !journey.coordinators.isEmpty, journey.task?.isHeld != true else { return }
        var due: Int64?
        for place in journey.coordinators.indices {
            // In a statement of its own: a mutating call inside another call on the run would copy the run.
            let timeout = try flow(of: journey.coordinators[place].id).timeout
            due = earlier(due, timeout.deadline(from: journey.coordinators[place].startedAt, movedAt: journey.movedAt))
            if place == 0 { journey.expiresAt = due }
        }
        journey.dueAt = earlier(due, try screenDeadline())
    }

    /// Does what timeouts have brought about up to a moment, one after the other, each at the time when it was due.
    mutating func catchUp(to moment: Int64) throws(JourneyRefusal) {
        for _ in 0..<Self.maximumTimeouts {
            guard journey.isActive else { return }
            // Of several at one time the outermost counts.
            var first: (coordinator: Int, at: Int64)?
            for coordinator in journey.coordinators {
                let timeout = try flow(of: coordinator.id).timeout
                guard let at = timeout.deadline(from: coordinator.startedAt, movedAt: journey.movedAt) else { continue }
                if first.map({ at < $0.at }) ?? true { first = (coordinator.id, at) }
            }
            guard let due = earlier(first?.at, try screenDeadline()), due <= moment else { return }
            now = due
            isFact = false
            if journey.task?.result != nil {
                // The work was done: no time undoes that.
                journey.noteOfTask { $0.result?.isHeld = true }
            } else if let first, first.at == due {
                try expire(first.coordinator)
            } else {
                try passScreen()
            }
            // They hold as soon as their guards do, not only when somebody looks.
            try stand()
            if journey.task?.isHeld == true { break }
        }
        now = moment
        journey.enteredAt = moment
    }

    private mutating func screenDeadline() throws(JourneyRefusal) -> Int64? {
        guard let top = journey.frames.last, let timeout = try screen(of: top).screen.timeout else { return nil }
        return journey.enteredAt.later(by: timeout.after)
    }

    private mutating func expire(_ coordinator: Int) throws(JourneyRefusal) {
        guard let parent = journey.coordinator(coordinator)?.parent else { return try expireJourney() }
        if let top = journey.frames.last, family(of: coordinator).contains(top.coordinator) { try leaveScreen() }
        let told = try end(coordinator, outcome: ChildFlow.expired, byFinal: false, output: nil)
        if let told {
            try take(told, of: parent)
        } else {
            try settle(isDirected: false)
        }
        try arrive()
    }

    private mutating func passScreen() throws(JourneyRefusal) {
        guard let top = journey.frames.last, let timeout = try screen(of: top).screen.timeout else { return }
        if journey.task != nil {
            try endTask(outcome: TaskState.timeout, output: .null)
            return try arrive()
        }
        guard let transition = timeout.transition else { return try expireJourney() }
        // When the guard does not hold now, it is tested again after the same time.
        journey.enteredAt = now
        let scope = try scope(of: top.coordinator)
        guard scope.test(transition) == .holds else { return }
        try take(transition, of: top.coordinator)
        try arrive()
    }
}

extension FlowTimeout {
    /// When it is due for what began at a time, in a journey that moved last at another.
    fileprivate func deadline(from start: Int64, movedAt: Int64) -> Int64? {
        earlier(total.map { start.later(by: $0) }, idle.map { movedAt.later(by: $0) })
    }
}

/// The first of two times; nil stands for never.
package func earlier(_ one: Int64?, _ other: Int64?) -> Int64? {
    guard let one else { return other }
    return other.map { min(one, $0) } ?? one
}
