import JSONDocument

extension StepRun {
    /// The nearest frame below the top that can be gone back to; nil when there is none.
    mutating func landing(where isWanted: (Frame) -> Bool = { _ in true }) throws(JourneyRefusal) -> Int? {
        for place in journey.frames.indices.dropLast().reversed() {
            let frame = journey.frames[place]
            // All frames below are invalidated, too.
            if frame.mark == .invalidated { return nil }
            guard frame.mark == .none, isWanted(frame), try isReachable(frame) else { continue }
            return place
        }
        return nil
    }

    /// The first frame of the topmost context, if it is the one that is looked at or can be gone back to.
    mutating func rootLanding() throws(JourneyRefusal) -> Int? {
        guard let root = journey.frames.lastIndex(where: { $0.presentation.beginsContext }) else { return nil }
        if root == journey.frames.count - 1 { return root }
        let frame = journey.frames[root]
        guard frame.mark == .none, try isReachable(frame) else { return nil }
        return root
    }

    /// Whether what the screen requires holds.
    mutating func isReachable(_ frame: Frame) throws(JourneyRefusal) -> Bool {
        // A screen that is not in the file any more cannot be looked at, but it can be passed over.
        guard let screen = try flow(of: frame.coordinator).screen(of: frame) else { return false }
        return try isOpen(screen, of: frame.coordinator)
    }

    /// Whether the event `back` does something.
    mutating func canGoBack() throws(JourneyRefusal) -> Bool {
        guard let top = journey.frames.last else { return false }
        return try canGoBack(from: screen(of: top).screen)
    }

    /// - Parameter screen: the one that is looked at.
    mutating func canGoBack(from screen: Screen) throws(JourneyRefusal) -> Bool {
        switch screen.back {
        case .forbidden: return false
        case .target: return true
        case .allowed: return try landing() != nil
        }
    }

    /// The event `back`.
    ///
    /// - Returns: false when it is not accepted here.
    mutating func goBack() throws(JourneyRefusal) -> Bool {
        guard let top = journey.frames.last else { return false }
        switch try screen(of: top).screen.back {
        case .forbidden: return false
        case .allowed:
            guard let landing = try landing() else { return false }
            try leaveScreen()
            uncover(upTo: landing)
            try settle(isDirected: false)
        case .target(let target):
            let state = try flow(of: top.coordinator).states[target].id
            try leaveScreen()
            if let landing = try landing(where: { $0.coordinator == top.coordinator && $0.state == state }) {
                uncover(upTo: landing)
                try settle(isDirected: true)
            } else {
                let hasArrived = try go(.replace, to: target, of: top.coordinator)
                try settle(isDirected: hasArrived)
            }
        }
        return true
    }

    /// The verbs that go back without a screen of their own to come to.
    mutating func uncover(_ verb: NavigationVerb) throws(JourneyRefusal) {
        switch verb {
        case .dismiss:
            guard let start = journey.frames.lastIndex(where: { $0.presentation == .modal }) else {
                throw Self.noWayBack("there is no modal context to dismiss")
            }
            uncover(upTo: start - 1)
        case .popToRoot:
            guard let root = try rootLanding() else {
                throw Self.noWayBack("the first screen cannot be gone back to")
            }
            uncover(upTo: root)
        case .pop, .popTo, .push, .replace, .present, .setRoot:
            guard let landing = try landing() else { throw Self.noWayBack("there is no screen to go back to") }
            uncover(upTo: landing)
        }
    }

    /// The frame at that place is looked at again; what is above leaves.
    mutating func uncover(upTo place: Int) {
        isUncovered = true
        removeFrames(from: place + 1)
    }

    mutating func removeFrames(from place: Int) {
        guard place < journey.frames.count else { return }
        for frame in journey.frames[place...] where !losers.contains(frame.coordinator) {
            losers.append(frame.coordinator)
        }
        journey.frames.removeSubrange(place...)
    }
}
