/// Standing rules: `requires` with `otherwise`, and `always`. They move a journey without an event.
extension StepRun {
    /// Why the journey may not stay on its screen.
    private struct Urge {
        /// Whether the `requires` of the screen do not hold.
        let isClosed: Bool
        /// The transitions that may be taken, in the order in which they are tried.
        var transitions: [(transition: Transition, coordinator: Int)] = []
    }

    /// Moves the journey until it may stay where it is.
    ///
    /// - Throws: ``JourneyRefusal/endless(flow:state:)`` when moves still follow after the most that a step may have;
    ///   what ``checkWork()`` throws.
    mutating func stand() throws(JourneyRefusal) {
        while let urge = try urge() {
            event = .none
            isFact = false
            guard try follow(urge) else { break }
            automaticMoves += 1
            guard automaticMoves <= FlowEngine.maximumHops else {
                throw .endless(flow: journey.flow, state: journey.frames.last?.state ?? "")
            }
        }
        try checkWork()
    }

    /// Refuses what has taken more work than it may: then nothing is known of what was asked, and nothing follows from
    /// it. A look moves nothing instead.
    mutating func checkWork() throws(JourneyRefusal) {
        guard let overwork = services.overwork else { return }
        guard isLook else { throw .guardNotMet([overwork.reason]) }
        services.overwork = nil
    }

    /// Whether ``stand()`` would move the journey. A transition that is refused does not.
    mutating func hasToMove() throws(JourneyRefusal) -> Bool {
        guard try urge() != nil else { return false }
        var trial = self
        let (mark, work) = (services.mark, services.work)
        defer {
            services.rewind(to: mark)
            services.work = work
        }
        trial.automaticMoves = 0
        do throws(JourneyRefusal) {
            try trial.stand()
        } catch {
            return services.overwork == nil
        }
        return trial.automaticMoves > 0
    }

    /// Nil when the journey may stay.
    private mutating func urge() throws(JourneyRefusal) -> Urge? {
        guard journey.isActive, let top = journey.frames.last else { return nil }
        let screen = try screen(of: top)
        var urge = Urge(isClosed: try !isOpen(top))
        // What is undecided must not keep the journey on a screen that is closed.
        if urge.isClosed,
            let otherwise = try? services.apart({ try choose(screen.screen.otherwise, of: top.coordinator) })
        {
            urge.transitions.append((otherwise, top.coordinator))
        }
        var own = screen.screen.always
        var state: String?
        var next: Int? = top.coordinator
        while let coordinator = next {
            let flow = try flow(of: coordinator)
            if !own.isEmpty || !flow.always.isEmpty {
                // The journey does not move to where it is.
                let here = flow.place(of: state ?? top.state)
                let scope = try scope(of: coordinator)
                for transition in own + flow.always where transition.target.map({ $0 != here }) ?? true {
                    guard services.apart({ scope.test(transition) }) == .holds else { continue }
                    urge.transitions.append((transition, coordinator))
                }
                own = []
            }
            guard let place = journey.coordinators.place(of: coordinator) else { break }
            next = journey.coordinators[place].parent
            if next != nil { state = journey.coordinators[place].startedBy ?? "" }
        }
        // What takes too much work closes nothing and leads nowhere.
        guard services.overwork == nil else { return nil }
        return urge.isClosed || !urge.transitions.isEmpty ? urge : nil
    }

    /// - Returns: false when every transition was refused, and the journey may stay; or when one of them takes too much
    ///   work.
    private mutating func follow(_ urge: Urge) throws(JourneyRefusal) -> Bool {
        for (transition, coordinator) in urge.transitions {
            let frames = journey.frames
            let isTaken = attempt(as: .event(.client)) { (run: inout StepRun) throws(JourneyRefusal) in
                try run.take(transition, of: coordinator)
                try run.arrive()
                // A `resume` that cannot go on would be taken again and again.
                if transition.nav == .resume, run.journey.frames == frames { throw .guardNotMet([]) }
            }
            if isTaken { return true }
            guard services.overwork == nil else { return false }
        }
        guard urge.isClosed else { return false }
        let isUncovered = attempt(as: .event(.client)) { (run: inout StepRun) throws(JourneyRefusal) in
            try run.closeScreen()
        }
        if isUncovered { return true }
        guard services.overwork == nil else { return false }
        // Also after a link: no transition was taken that does damage, and the journey is over.
        let former = purpose
        purpose = .release(isClosing: false)
        defer { purpose = former }
        try leaveScreen()
        try finishJourney(outcome: ChildFlow.closed, output: nil)
        return true
    }

    /// Does all of a move or nothing.
    mutating func attempt(
        as purpose: Purpose, _ move: (inout StepRun) throws(JourneyRefusal) -> Void
    ) -> Bool {
        var other = self
        other.purpose = purpose
        let (mark, overwork) = (services.mark, services.overwork)
        services.overwork = nil
        do throws(JourneyRefusal) {
            try move(&other)
            guard services.invalid == nil, services.overwork == nil else { throw .guardNotMet([]) }
        } catch {
            services.rewind(to: mark)
            services.work.recover()
            services.overwork = services.overwork ?? overwork
            return false
        }
        services.overwork = overwork
        other.purpose = self.purpose
        self = other
        return true
    }

    /// Uncovers the nearest frame that can be gone back to and whose `requires` hold. A flow without one ends. Actions
    /// that fail are skipped.
    private mutating func closeScreen() throws(JourneyRefusal) {
        purpose = .release(isClosing: true)
        defer { purpose = .event(.client) }
        try leaveScreen()
        // A parent that is told may lead to a screen that is closed, too.
        for _ in 0..<FlowEngine.maximumHops {
            // In a statement of its own: a mutating call inside another call on the run would copy the run.
            let landing = try landing()
            uncover(upTo: landing ?? -1)
            try settle(isDirected: false)
            guard journey.isActive, let top = journey.frames.last else { return }
            if try isOpen(top) { return try arrive() }
        }
        throw .endless(flow: journey.flow, state: journey.frames.last?.state ?? "")
    }
}
