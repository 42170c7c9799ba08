import JSONDocument

/// Going on without the user: past screens that are answered, as links do, and forward to a screen, as `resume` does.
extension StepRun {
    /// Passes the top screen, whose answers are there, by the transition of the event that would have given them. Its
    /// actions are left out.
    mutating func pass(by event: String) throws(JourneyRefusal) {
        guard let top = journey.frames.last, let reaction = try reaction(to: event) else {
            throw .eventNotAccepted(event: event, accepted: [])
        }
        let answers = try screen(of: top).screen.answers
        self.event = .unknown
        let scope = try scope(of: reaction.coordinator)
        let passage = scope.passage(reaction.rule.transitions(forward: isResuming), answers)
        guard let passage else { throw .guardNotMet([]) }
        self.event = .none
        try leaveScreen()
        note(passage, of: reaction.coordinator)
        try move(by: passage, of: reaction.coordinator)
    }

    /// Goes forward to a screen, past every screen that is answered, to the first that is not. The stack becomes the
    /// one of a person who walked there: a screen on the way that is on the stack is gone back to, any other is pushed.
    mutating func resume(to target: Frame) throws(JourneyRefusal) {
        guard let top = journey.frames.last else { return try place(target, by: .push) }
        let (event, purpose) = (event, purpose)
        defer { (self.event, self.purpose) = (event, purpose) }
        let hops = try RouteSearch.wayForward(from: &self, to: target)
        // The screen itself may have been passed on the way to where it was asked for again.
        if let landing = try landing(on: top.withoutParams) { uncover(upTo: landing) }
        self.purpose = .resume(releasing: isClosing)
        for (place, hop) in hops.enumerated() {
            self.event = .data(.emptyObject)
            switch hop.kind {
            case .direct: try self.place(target, by: .resume)
            case .passed: try pass(by: hop.event)
            case .sent: try send(forward: hop.event)
            }
            guard place < hops.count - 1 else { return }
            try arrive()
        }
    }

    /// Takes the first transition of an event that does not resume.
    private mutating func send(forward event: String) throws(JourneyRefusal) {
        guard let reaction = try reaction(to: event),
            let taken = try choose(reaction.rule.transitions(forward: true), of: reaction.coordinator)
        else { throw .guardNotMet([]) }
        try take(taken, of: reaction.coordinator)
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
    /// answers. Nil when there is none, or when it depends on the data of the event.
    func passage(_ transitions: [Transition], _ answers: [DataPath]) -> Transition? {
        for transition in transitions {
            switch test(transition) {
            case .holds: return transition.gives(answers) ? transition : nil
            case .fails: continue
            case .unknown, .undecided: return nil
            }
        }
        return nil
    }
}

extension Transition {
    /// Whether an action writes one of these values, or a part of one.
    func gives(_ answers: [DataPath]) -> Bool {
        actions.contains { action in
            guard let path = action.target else { return false }
            return answers.contains { $0.overlaps(path) }
        }
    }
}

extension Frame {
    /// The frame of any params.
    fileprivate var withoutParams: Frame {
        var frame = self
        frame.params = nil
        return frame
    }
}
