import Navigation

/// A journey by the letter of the language of flows, as straight as it can be written: lists, and a search through all
/// of them for each question. Shares nothing with the engine.
struct ModelJourney {
    struct Refused: Error {}

    struct Frame {
        var coordinator: Int
        var state: Int
        var presentation: Frame.Presentation
        /// Going back passes it over.
        var isSkipped = false
        /// Going back does not get to it.
        var isSealed = false

        typealias Presentation = Navigation.Frame.Presentation
    }

    struct Coordinator {
        var id: Int
        var flow: Int
        var parent: Int?
        var startedBy: Int?
    }

    let flows: [ModelFlow]
    var frames: [Frame] = []
    var coordinators: [Coordinator] = []
    var flags: [String: Bool]
    var notes: [String] = []
    var outcome: String?
    private var nextID = 0
    /// Whether the top frame was there before and shows itself again.
    private var isUncovered = false
    /// The frames as they were before the step.
    private var framesBefore: [Frame] = []

    init(flows: [ModelFlow], flags: [String: Bool]) {
        self.flows = flows
        self.flags = flags
    }

    // MARK: - Steps

    mutating func start(_ flow: Int) throws {
        try whole { try $0.begin(flow) }
    }

    mutating func restart(_ flow: Int) throws {
        try whole { journey in
            journey.leave()
            journey.end()
            try journey.begin(flow)
        }
    }

    mutating func send(_ event: String) throws {
        try whole { journey in
            guard let top = journey.frames.last else { throw Refused() }
            var screen = ModelFlow.Screen()
            switch journey.state(of: top) {
            case .screen(let shown): screen = shown
            // It has no events of its own.
            case .task: screen.back = .forbidden
            case .choice, .flow, .final: throw Refused()
            }
            if event == "back" { return try journey.back(from: screen) }
            var owner = journey.coordinator(top.coordinator)
            var moves = screen.events[event] ?? journey.flows[owner.flow].events[event]
            while moves == nil, let parent = owner.parent {
                owner = journey.coordinator(parent)
                moves = journey.flows[owner.flow].events[event]
            }
            guard let move = moves?.first(where: { journey.holds($0.condition) }) else { throw Refused() }
            guard move.target != nil || move.verb != nil else { return journey.apply(move.effects) }
            journey.leave()
            journey.apply(move.effects)
            journey.mark(move.history)
            let isLed = try journey.follow(move, of: owner.id)
            try journey.settle(isLed: isLed)
        }
    }

    /// The work that the journey waits for is over.
    mutating func endTask(_ outcome: String) throws {
        try whole { journey in
            guard let top = journey.frames.last, case .task(let done) = journey.state(of: top),
                let move = (done[outcome] ?? done[""])?.first(where: { journey.holds($0.condition) })
            else { throw Refused() }
            journey.apply(move.effects)
            guard move.target != nil || move.verb != nil else {
                journey.cut(to: journey.frames.count - 2)
                return try journey.settle(isLed: false)
            }
            journey.mark(move.history)
            let isLed = try journey.follow(move, of: top.coordinator)
            try journey.settle(isLed: isLed)
        }
    }

    /// Whether the journey waits for work: then its frame is on top, and leaves with whatever comes next.
    var isBusy: Bool {
        guard let top = frames.last, case .task = state(of: top) else { return false }
        return true
    }

    // MARK: - Moving

    private mutating func back(from screen: ModelFlow.Screen) throws {
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
                try show(target, of: top.coordinator, verb: .replace)
            }
            try settle(isLed: true)
        }
    }

    /// The nearest below the top that one may be on; nothing that is sealed.
    private func placeToGoBackTo(where isRight: (Frame) -> Bool) -> Int? {
        frames.indices.dropLast().last {
            !frames[$0].isSkipped && !frames[$0].isSealed && mayBeOn(frames[$0]) && isRight(frames[$0])
        }
    }

    private func mayBeOn(_ frame: Frame) -> Bool {
        guard case .screen(let screen) = state(of: frame) else { return false }
        return screen.requires.allSatisfy { holds($0) }
    }

    /// The frame at that place is on top again.
    private mutating func cut(to place: Int) {
        frames.removeLast(frames.count - 1 - place)
        isUncovered = true
    }

    private mutating func leave() {
        guard let top = frames.last, case .screen(let screen) = state(of: top) else { return }
        apply(screen.exit)
    }

    private mutating func mark(_ history: HistoryPolicy) {
        guard !frames.isEmpty else { return }
        switch history {
        case .preserve: frames[frames.count - 1].isSkipped = false
        case .discard: frames[frames.count - 1].isSkipped = true
        case .invalidate: for place in frames.indices { frames[place].isSealed = true }
        }
    }

    /// - Returns: whether a target has led to a screen.
    private mutating func follow(
        _ move: ModelFlow.Move, of coordinator: Int, verb: NavigationVerb? = nil
    ) throws -> Bool {
        let verb = move.verb ?? verb ?? .push
        if let target = move.target { return try go(to: target, of: coordinator, verb: verb) }
        try take(verb)
        return false
    }

    /// Verbs without a target.
    private mutating func take(_ verb: NavigationVerb) throws {
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
        case .push, .replace, .present, .popTo, .setRoot: throw Refused()
        }
    }

    private mutating func go(to target: Int, of coordinator: Int, verb: NavigationVerb) throws -> Bool {
        let flow = self.coordinator(coordinator).flow
        switch flows[flow].states[target] {
        case .screen, .task:
            try show(target, of: coordinator, verb: verb)
            return true
        case .choice(let branches):
            guard let branch = branches.first(where: { holds($0.condition) }) else { throw Refused() }
            apply(branch.effects)
            return try follow(branch, of: coordinator, verb: verb)
        case .flow(let child, _):
            let id = add(child, parent: coordinator, startedBy: target)
            return try go(to: flows[child].initial, of: id, verb: verb)
        case .final(let outcome):
            return try finish(coordinator, outcome: outcome)
        }
    }

    private mutating func show(_ state: Int, of coordinator: Int, verb: NavigationVerb) throws {
        var frame = Frame(coordinator: coordinator, state: state, presentation: .push)
        var verb = verb
        if isBusy, let top = frames.last {
            if verb == .push || verb == .popToRoot && top.presentation != .push { verb = .replace }
            if verb == .present { frames.removeLast() }
        }
        switch verb {
        case .push: break
        case .present: frame.presentation = .modal
        case .replace:
            if let old = frames.popLast() { frame.presentation = old.presentation }
        case .setRoot: frames = []
        case .popTo:
            guard let place = placeToGoBackTo(where: { $0.coordinator == coordinator && $0.state == state }) else {
                throw Refused()
            }
            return cut(to: place)
        case .dismiss, .pop, .popToRoot:
            try take(verb)
            if let top = frames.last, top.coordinator == coordinator, top.state == state { return }
        }
        isUncovered = false
        if frames.isEmpty { frame.presentation = .root }
        frames.append(frame)
    }

    // MARK: - Coordinators

    private mutating func begin(_ flow: Int) throws {
        outcome = nil
        let id = add(flow, parent: nil, startedBy: nil)
        let isLed = try go(to: flows[flow].initial, of: id, verb: .push)
        try settle(isLed: isLed)
    }

    private mutating func add(_ flow: Int, parent: Int?, startedBy: Int?) -> Int {
        nextID += 1
        coordinators.append(Coordinator(id: nextID, flow: flow, parent: parent, startedBy: startedBy))
        apply(flows[flow].entry)
        return nextID
    }

    /// The journey's own flow ends.
    private mutating func end() {
        frames = []
        guard let own = coordinators.first else { return }
        releaseChildren(of: own.id)
        release(own.id)
    }

    private mutating func finish(_ id: Int, outcome: String) throws -> Bool {
        let ended = coordinator(id)
        guard let parent = ended.parent, let startedBy = ended.startedBy else {
            end()
            self.outcome = outcome
            return false
        }
        let gone = family(of: id)
        frames.removeAll { gone.contains($0.coordinator) }
        if !frames.isEmpty { frames[0].presentation = .root }
        isUncovered = true
        releaseChildren(of: id)
        release(id)
        guard let move = told(parent, of: startedBy, outcome: outcome, byFinal: true) else { return false }
        apply(move.effects)
        guard move.target != nil || move.verb != nil else { return false }
        mark(move.history)
        return try follow(move, of: parent)
    }

    /// What a parent does about the end of a child.
    private func told(_ parent: Int, of state: Int, outcome: String, byFinal: Bool) -> ModelFlow.Move? {
        guard case .flow(_, let done) = flows[coordinator(parent).flow].states[state] else { return nil }
        let moves = done[outcome] ?? (byFinal ? done[""] : nil) ?? []
        return moves.first { holds($0.condition) }
    }

    /// What is left to be done after a move: who has lost everything is released, and the new screen is entered.
    private mutating func settle(isLed: Bool) throws {
        var isLed = isLed
        while true {
            // A screen that shows itself again, and that one may not be on any more, leaves, too.
            while isUncovered, frames.count > 1, let top = frames.last, !mayBeOn(top) { frames.removeLast() }
            guard let lost = coordinators.last(where: { !isPresent($0.id) }) else { break }
            guard let parent = lost.parent, let startedBy = lost.startedBy else {
                end()
                outcome = "abandoned"
                return
            }
            release(lost.id)
            guard let move = told(parent, of: startedBy, outcome: "abandoned", byFinal: false) else { continue }
            apply(move.effects)
            let isOnItsWayOut = !isPresent(parent) && framesBefore.contains { $0.coordinator == parent }
            if move.target != nil || move.verb != nil, !isLed, !isOnItsWayOut {
                mark(move.history)
                isLed = try follow(move, of: parent)
            }
        }
        guard let top = frames.last, case .screen(let screen) = state(of: top) else { return }
        guard screen.requires.allSatisfy({ holds($0) }) else { throw Refused() }
        apply(screen.entry)
    }

    private func isPresent(_ id: Int) -> Bool {
        let family = family(of: id)
        return frames.contains { family.contains($0.coordinator) }
    }

    /// A coordinator and all below it, older ones first.
    private func family(of id: Int) -> [Int] {
        var family = [id]
        for other in coordinators {
            if let parent = other.parent, family.contains(parent) { family.append(other.id) }
        }
        return family
    }

    /// Children before parents, each parent told.
    private mutating func releaseChildren(of id: Int) {
        for child in family(of: id).dropFirst().reversed() {
            let gone = coordinator(child)
            release(child)
            guard let parent = gone.parent, let startedBy = gone.startedBy else { continue }
            apply(told(parent, of: startedBy, outcome: "abandoned", byFinal: false)?.effects ?? [])
        }
    }

    private mutating func release(_ id: Int) {
        apply(flows[coordinator(id).flow].exit)
        coordinators.removeAll { $0.id == id }
    }

    // MARK: - Looking

    func coordinator(_ id: Int) -> Coordinator {
        guard let found = coordinators.first(where: { $0.id == id }) else { preconditionFailure("no such coordinator") }
        return found
    }

    func state(of frame: Frame) -> ModelFlow.State {
        flows[coordinator(frame.coordinator).flow].states[frame.state]
    }

    private func holds(_ condition: ModelFlow.Condition?) -> Bool {
        guard let condition else { return true }
        return flags[condition.flag] == condition.wanted
    }

    private mutating func apply(_ effects: [ModelFlow.Effect]) {
        for effect in effects {
            switch effect {
            case .set(let flag, let value): flags[flag] = value
            case .note(let word): notes.append(word)
            }
        }
    }

    /// All of it or nothing.
    private mutating func whole(_ step: (inout ModelJourney) throws -> Void) throws {
        var copy = self
        copy.notes = []
        copy.isUncovered = false
        copy.framesBefore = frames
        try step(&copy)
        self = copy
    }
}
