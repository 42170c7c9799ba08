import Navigation

/// Moves the stack.
extension ModelJourney {
    /// Does what a transition says.
    mutating func take(_ move: ModelFlow.Move, of coordinator: Int) throws {
        leave()
        try make(move, coordinator)
        mark(move.history)
        let isLed = try follow(move, of: coordinator)
        try settle(isLed: isLed)
    }

    /// The effects of a transition.
    mutating func make(_ move: ModelFlow.Move, _ coordinator: Int) throws {
        guard !isLink || move.isHarmless else { throw Refused() }
        apply(move.effects, coordinator)
    }

    mutating func back(from screen: ModelFlow.Screen) throws {
        let top = frames[frames.count - 1]
        switch screen.back {
        case .forbidden: throw Refused()
        case .allowed:
            guard let place = placeToGoBackTo(where: { _ in true }) else { throw Refused() }
            leave()
            cut(to: place)
            try settle(isLed: false)
        case .target(let target):
            leave()
            if let place = placeToGoBackTo(where: { $0.coordinator == top.coordinator && $0.state == target }) {
                cut(to: place)
            } else {
                try show(target, of: top.coordinator, verb: .replace, number: nil)
            }
            try settle(isLed: true)
        }
    }

    /// The nearest below the top that one may be on; nothing that is sealed.
    func placeToGoBackTo(where isRight: (Frame) -> Bool) -> Int? {
        frames.indices.dropLast().last {
            !frames[$0].isSkipped && !frames[$0].isSealed && mayBeOn(frames[$0]) && isRight(frames[$0])
        }
    }

    func mayBeOn(_ frame: Frame) -> Bool {
        guard let screen = screen(of: frame) else { return false }
        return screen.requires.allSatisfy { holds($0, frame.coordinator) }
    }

    /// The frame at that place is on top again.
    mutating func cut(to place: Int) {
        frames.removeLast(frames.count - 1 - place)
        isUncovered = true
    }

    mutating func leave() {
        if isUnentered {
            isUnentered = false
            return
        }
        guard let top = frames.last, let screen = screen(of: top) else { return }
        apply(screen.exit, top.coordinator)
    }

    mutating func mark(_ history: HistoryPolicy) {
        guard !frames.isEmpty else { return }
        switch history {
        case .preserve: frames[frames.count - 1].isSkipped = false
        case .discard: frames[frames.count - 1].isSkipped = true
        case .invalidate: for place in frames.indices { frames[place].isSealed = true }
        }
    }

    /// - Returns: whether a target has led to a screen.
    mutating func follow(
        _ move: ModelFlow.Move, of coordinator: Int, verb: NavigationVerb? = nil, number: Int? = nil
    ) throws -> Bool {
        let verb = move.verb ?? verb ?? .push
        if let target = move.target {
            return try go(to: target, of: coordinator, verb: verb, number: move.number ?? number)
        }
        try take(verb)
        return false
    }

    /// Verbs without a target.
    mutating func take(_ verb: NavigationVerb) throws {
        switch verb {
        case .dismiss:
            guard let modal = frames.lastIndex(where: { $0.presentation == .modal }) else { throw Refused() }
            cut(to: modal - 1)
        case .pop:
            guard let place = placeToGoBackTo(where: { _ in true }) else { throw Refused() }
            cut(to: place)
        case .popToRoot:
            guard let root = frames.lastIndex(where: { $0.presentation != .push }) else { throw Refused() }
            if isBusy, root == frames.count - 1 { return cut(to: root - 1) }
            let isBelow = root < frames.count - 1
            guard !isBelow || !frames[root].isSkipped && !frames[root].isSealed && mayBeOn(frames[root]) else {
                throw Refused()
            }
            cut(to: root)
        case .push, .replace, .present, .popTo, .setRoot, .resume: throw Refused()
        }
    }

    mutating func go(
        to target: Int, of coordinator: Int, verb: NavigationVerb, number: Int? = nil
    ) throws -> Bool {
        let flow = self.coordinator(coordinator).flow
        switch flows[flow].states[target] {
        case .screen, .task:
            try show(target, of: coordinator, verb: verb, number: number)
            return true
        case .choice(let branches):
            guard let branch = try first(of: branches, coordinator) else { throw Refused() }
            try make(branch, coordinator)
            return try follow(branch, of: coordinator, verb: verb, number: number)
        case .flow(let child, _):
            let id = add(child, parent: coordinator, startedBy: target)
            return try go(to: flows[child].initial, of: id, verb: verb, number: number)
        case .final(let outcome):
            return try finish(coordinator, outcome: outcome)
        }
    }

    mutating func show(_ state: Int, of coordinator: Int, verb: NavigationVerb, number: Int?) throws {
        var frame = Frame(coordinator: coordinator, state: state, presentation: .push, number: number)
        if case .task(let task) = self.state(of: frame) {
            frame.task = Task(flag: read(task.flag, coordinator))
            frame.number = nil
            hasBegun = true
        }
        func isWanted(_ other: Frame) -> Bool {
            other.coordinator == coordinator && other.state == state && (number == nil || other.number == number)
        }
        switch verb {
        case .push: break
        case .present: frame.presentation = .modal
        case .replace:
            if let old = frames.popLast() { frame.presentation = old.presentation }
        case .setRoot: frames = []
        case .popTo, .resume:
            // What was above the top frame may just have gone.
            if isUncovered, let top = frames.last, isWanted(top) { return }
            if let place = placeToGoBackTo(where: isWanted) { return cut(to: place) }
        case .popToRoot where isBusy && frames.last?.presentation != .push: break
        case .dismiss, .pop, .popToRoot:
            try take(verb)
            if let top = frames.last, isWanted(top) { return }
        }
        // Nothing is ever above the frame of a task: what follows takes its place.
        if isBusy, verb != .setRoot, let old = frames.popLast(), verb != .present {
            frame.presentation = old.presentation
        }
        isUncovered = false
        if frames.isEmpty { frame.presentation = .root }
        frames.append(frame)
    }
}
