import JSONDocument

/// Going on without the person: past screens that are answered, as links do, and forward to a screen, as `resume` does.
extension StepRun {
    /// Passes the top screen, whose answers are there, by the transition of the event that would have given them. Its
    /// actions are left out.
    mutating func pass(by event: String) throws(JourneyRefusal) {
        guard let top = journey.frames.last, let reaction = try reaction(to: event) else {
            throw .eventNotAccepted(event: event, accepted: [])
        }
        let answers = try screen(of: top).screen.answers ?? []
        self.event = .unknown
        let scope = try scope(of: reaction.coordinator)
        let passage = scope.passage(reaction.rule.transitions, answers, forward: isResuming)
        guard let passage else { throw .guardNotMet([]) }
        self.event = .none
        try leaveScreen()
        note(passage, of: reaction.coordinator)
        try move(by: passage, of: reaction.coordinator)
    }

    /// Takes a transition that resumes from the top screen. Where it cannot go on, the screen is neither left nor
    /// entered again, and what the actions wrote is kept: half a page that was sent, for example.
    mutating func resume(by transition: Transition, of coordinator: Int) throws(JourneyRefusal) {
        let (start, mark) = (self, services.mark)
        try perform(transition, of: coordinator)
        guard let top = journey.frames.last, try !asks(top) else { return }
        if try screen(of: top).screen.exit.isEmpty {
            hasLeft = true
        } else {
            self = start
            services.rewind(to: mark)
            try leaveScreen()
            try perform(transition, of: coordinator)
        }
        try move(by: transition, of: coordinator)
        let isSame = journey.frames.last.map { $0.showsSame(as: top) && top.showsSame(as: $0) } ?? false
        guard isSame, journey.frames.count == start.journey.frames.count else { return }
        self = start
        services.rewind(to: mark)
        try perform(transition, of: coordinator)
    }

    /// Goes forward to a screen, past every screen that is answered, and stops on the first that wants the person. The
    /// stack becomes the one of a person who walked there: a screen on the way that is on the stack is gone back to,
    /// any other is pushed. What lies ahead refuses nothing: the journey stops before it.
    ///
    /// - Parameters:
    ///   - transition: the one that resumes. The others of its list are the way on, if it has any.
    ///   - coordinator: the one whose flow has the transition.
    mutating func resume(
        to target: Frame, by transition: Transition?, of coordinator: Int
    ) throws(JourneyRefusal) {
        let (event, purpose, overwork) = (event, purpose, services.overwork)
        self.purpose = .resume(releasing: isClosing)
        defer { (self.event, self.purpose, services.overwork) = (event, purpose, overwork) }
        let isBusy = journey.task != nil
        guard let own = isBusy ? journey.frames.dropLast().last : journey.frames.last else {
            return try place(target, by: .push)
        }
        let asksOwn = try asks(own)
        if asksOwn || target.showsSame(as: own) { return leaveTask() }
        if let onward = try onward(besides: transition, of: coordinator) {
            let isTaken = attempt(as: self.purpose) { (run: inout StepRun) throws(JourneyRefusal) in
                if !isBusy { try run.uncoverTwin() }
                run.note(onward, of: coordinator)
                try run.move(by: onward, of: coordinator)
                try run.land(on: nil)
            }
            guard isTaken else { return leaveTask() }
            guard let top = journey.frames.last, !target.showsSame(as: top), try !wantsPerson(top) else { return }
        }
        leaveTask()
        // What has just ended is not gone through once more.
        let ended = isBusy || hasEnded ? transition.map { (coordinator: coordinator, place: $0.place) } : nil
        try walk(try RouteSearch.wayForward(from: &self, to: target, after: ended), to: target)
    }

    /// Takes the hops of a way, up to the first that is refused or reaches a screen that wants the person.
    private mutating func walk(_ hops: [Route.Hop], to target: Frame) throws(JourneyRefusal) {
        let (start, mark) = (self, services.mark)
        for (place, hop) in hops.enumerated() {
            do throws(JourneyRefusal) {
                // Not where another way has just led: that frame is a new one.
                if place == 0, hasLeft { try uncoverTwin() }
                try take(hop, to: target)
                guard services.invalid == nil else { throw .guardNotMet([]) }
            } catch {
                // Again without it: a copy of the run for each hop would make a long way slow.
                self = start
                services.rewind(to: mark)
                if place > 0, hasLeft { try uncoverTwin() }
                for hop in hops.prefix(place) { try take(hop, to: target) }
                return
            }
            guard let top = journey.frames.last, !target.showsSame(as: top), try !wantsPerson(top) else { return }
        }
    }

    private mutating func take(_ hop: Route.Hop, to target: Frame) throws(JourneyRefusal) {
        event = .data(.emptyObject)
        switch hop.kind {
        case .direct: return try go(straightTo: target)
        case .passed: try pass(by: hop.event)
        case .sent: try send(forward: hop.event)
        }
        try land(on: hop.screen)
    }

    private mutating func go(straightTo target: Frame) throws(JourneyRefusal) {
        try leaveScreen()
        try place(target, by: .resume)
        try settle(isDirected: true)
        try land(on: nil)
    }

    /// Enters the screen that a hop has led to.
    ///
    /// - Parameter screen: nil for any.
    /// - Throws: where the hop led to work outside, to the end of the journey or to another screen.
    private mutating func land(on screen: String?) throws(JourneyRefusal) {
        try arrive()
        guard journey.isActive, journey.task == nil, screen.map({ journey.frames.last?.state == $0 }) ?? true else {
            throw .guardNotMet([])
        }
    }

    /// Goes back to a frame of the top screen further down: it was passed before, on the way to where it was asked for
    /// again. Where the params say whose answers it asks for, it is the frame with the same.
    private mutating func uncoverTwin() throws(JourneyRefusal) {
        guard let top = journey.frames.last else { return }
        let asksByParams = try screen(of: top).screen.answers?.contains { !$0.built.isEmpty } ?? false
        guard let landing = try landing(on: asksByParams ? top : top.withoutParams) else { return }
        uncover(upTo: landing)
    }

    /// A task that has ended leaves the stack, whatever lies ahead.
    private mutating func leaveTask() {
        if journey.task != nil, journey.frames.count > 1 { uncover(upTo: journey.frames.count - 2) }
    }

    /// The transition of the same list that is taken where nothing resumes; nil when there is none.
    private mutating func onward(
        besides transition: Transition?, of coordinator: Int
    ) throws(JourneyRefusal) -> Transition? {
        guard let transition else { return nil }
        let others = try flow(of: coordinator).waysOn(besides: transition).filter(\.mayBePassed)
        // What is undecided is no way, and what goes back is none forward.
        let onward = others.isEmpty ? nil : try? choose(others, of: coordinator)
        return onward?.target == nil ? nil : onward
    }

    /// Takes the first transition of an event that does not resume.
    private mutating func send(forward event: String) throws(JourneyRefusal) {
        guard let reaction = try reaction(to: event),
            let taken = try choose(reaction.rule.transitions(forward: true), of: reaction.coordinator)
        else { throw .guardNotMet([]) }
        try take(taken, of: reaction.coordinator)
    }

    /// Whether a screen asks for values that are not all there.
    private mutating func asks(_ frame: Frame) throws(JourneyRefusal) -> Bool {
        guard try screen(of: frame).screen.answers?.isEmpty == false else { return false }
        return try wantsPerson(frame)
    }

    /// Whether only the person may lead on from a screen.
    private mutating func wantsPerson(_ frame: Frame) throws(JourneyRefusal) -> Bool {
        let answers = try screen(of: frame).screen.answers
        return try !scope(of: frame.coordinator, with: frame.params).isAnswered(answers)
    }
}

extension FlowDefinition {
    /// The other transitions of the list that a transition is in, as far as they do not resume.
    func waysOn(besides transition: Transition) -> [Transition] { waysOn[transition.place] ?? [] }

    /// The ways on beside each transition that resumes, by its place in the file.
    static func waysOn(_ states: [FlowState], _ events: [EventRule], _ always: [Transition]) -> [String: [Transition]] {
        var waysOn: [String: [Transition]] = [:]
        for list in states.flatMap(\.transitionLists) + events.map(\.transitions) + [always] {
            for transition in list where transition.nav == .resume {
                waysOn[transition.place] = list.filter { $0.nav != .resume && $0.moves }
            }
        }
        return waysOn
    }
}

extension FlowState {
    fileprivate var transitionLists: [[Transition]] {
        switch kind {
        case .screen(let screen): screen.events.map(\.transitions) + [screen.always, screen.otherwise]
        case .choice(let branches): [branches]
        case .flow(let child): child.ends.map(\.transitions)
        case .task(let task): task.ends.map(\.transitions)
        case .final: []
        }
    }
}

extension EventRule {
    /// - Parameter forward: whether those that resume are left out.
    func transitions(forward: Bool) -> [Transition] {
        forward ? transitions.filter { $0.nav != .resume } : transitions
    }
}

extension [Transition] {
    /// Those that do not resume, which say what follows; all when there are no others.
    var leadingOn: [Transition] {
        let others = filter { $0.nav != .resume }
        return others.isEmpty ? self : others
    }
}

extension DataScope {
    /// The transition by which an answered screen may be passed: the first whose guard holds, if its actions give the
    /// answers. Nil when there is none, or when it depends on the data of the event. One that resumes is the last
    /// resort, since it may stop on the way.
    func passage(_ transitions: [Transition], _ answers: [DataPath], forward: Bool) -> Transition? {
        let others = transitions.filter { $0.nav != .resume }
        return passage(others, answers) ?? (forward ? nil : passage(transitions, answers))
    }

    private func passage(_ transitions: [Transition], _ answers: [DataPath]) -> Transition? {
        for transition in transitions {
            switch test(transition) {
            case .holds: return gives(transition, answers) ? transition : nil
            case .fails: continue
            case .unknown, .undecided: return nil
            }
        }
        return nil
    }

    /// Whether an action of a transition writes one of these values, or a part of one. Of a path that depends on the
    /// event's data, only the beginning is known.
    private func gives(_ transition: Transition, _ answers: [DataPath]) -> Bool {
        transition.actions.contains { action in
            guard let target = action.target else { return false }
            let path = (try? resolved(target)) ?? target
            return answers.contains { ((try? resolved($0)) ?? $0).overlaps(path) }
        }
    }
}

extension Transition {
    /// Whether it may be taken without its actions.
    var mayBePassed: Bool { link ?? !clearsWayBack }
}

extension Frame {
    /// The frame of any params.
    fileprivate var withoutParams: Frame {
        var frame = self
        frame.params = nil
        return frame
    }
}
