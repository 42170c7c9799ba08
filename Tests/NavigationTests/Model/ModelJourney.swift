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
        /// What the transition gave to it.
        var number: Int?
        /// What the journey waits for while the frame is there.
        var task: Task?

        typealias Presentation = Navigation.Frame.Presentation
    }

    struct Coordinator {
        var id: Int
        var flow: Int
        var parent: Int?
        var startedBy: Int?
    }

    /// What a coordinator has for itself.
    struct Owned: Equatable {
        var coordinator: Int
        var service: String
        var flags: [String: Bool]
    }

    struct Task {
        /// What it was told.
        var flag: Bool
        var dueAt: Int64?
    }

    let flows: [ModelFlow]
    var frames: [Frame] = []
    var coordinators: [Coordinator] = []
    /// The flags of the session's services.
    var session = ModelFlow.services
    /// What has been written of what coordinators own, oldest first.
    private(set) var owned: [Owned] = []
    var notes: [String] = []
    /// What the last step has removed of what coordinators own, in that order.
    var removed: [String] = []
    /// Whether the last step has written a flag, be it to what it was.
    private(set) var hasWritten = false
    /// Whether the last step has begun a task.
    private(set) var hasBegun = false
    private(set) var outcome: String?
    private(set) var isExpired = false
    var now: Int64
    private var nextID = 0
    /// Whether the top frame was there before and shows itself again.
    private var isUncovered = false
    /// The frames as they were before the step.
    private var framesBefore: [Frame] = []
    /// Whether a link leads.
    private var isLink = false
    /// What a parent is told when a child has lost everything.
    private var farewell = "abandoned"
    /// Whether something has happened outside that no closed screen refuses.
    private var isFact = false
    /// Whether the top screen was closed when a fact led there, so that it was not entered.
    private var isUnentered = false
    /// What the task has put out, while its end is dealt with.
    private var output: Bool?

    init(flows: [ModelFlow], now: Int64) {
        self.flows = flows
        self.now = now
    }

    // MARK: - Steps

    mutating func start(_ flow: Int) throws {
        try whole { try $0.begin(flow) }
    }

    mutating func restart(_ flow: Int) throws {
        try whole { journey in
            journey.leave()
            try journey.end()
            try journey.begin(flow)
        }
    }

    /// What follows from the flags and the time without an event.
    ///
    /// - Returns: whether that was anything.
    mutating func look() throws -> Bool {
        let isLate = task?.dueAt.map { $0 <= now } ?? false
        guard try isLate || unprompted() != nil else { return false }
        let moment = now
        do {
            try whole { journey in
                while let due = journey.task?.dueAt, due <= moment {
                    journey.now = due
                    try journey.finishTask("timeout")
                    try journey.rest()
                }
            }
        } catch {
            // It does not come to rest, or no transition for the timeout holds.
            try expire()
        }
        now = moment
        return true
    }

    /// The work is done, or was tried for the last time.
    ///
    /// - Parameter output: nil after a failure.
    mutating func endTask(_ outcome: String, _ output: Bool?) throws {
        guard try unprompted() == nil else { throw Refused() }
        try whole { journey in
            journey.output = output
            try journey.finishTask(outcome)
        }
    }

    /// The time of the journey is over.
    mutating func expire() throws {
        (notes, removed) = ([], [])
        leave()
        try end()
        isExpired = true
    }

    /// Somebody writes a flag as the journey sees it; nil removes its service.
    mutating func write(_ flag: String, _ value: Bool?) {
        let coordinator = frames.last?.coordinator
        let service = ModelFlow.service(of: flag)
        (notes, removed) = ([], [])
        if let value { set(flag, value, coordinator) } else { remove(service, coordinator) }
        removed = []
    }

    /// - Parameter asLink: whether only what does no damage is taken.
    mutating func send(_ event: String, asLink: Bool = false) throws {
        guard try unprompted() == nil else { throw Refused() }
        try whole { journey in
            journey.isLink = asLink
            guard let top = journey.frames.last, let screen = journey.screen(of: top) else { throw Refused() }
            if event == "back" { return try journey.back(from: screen) }
            var owner = journey.coordinator(top.coordinator)
            var moves = screen.events[event] ?? journey.flows[owner.flow].events[event]
            while moves == nil, let parent = owner.parent {
                owner = journey.coordinator(parent)
                moves = journey.flows[owner.flow].events[event]
            }
            guard let move = try moves.flatMap({ try journey.first(of: $0, owner.id) }) else { throw Refused() }
            guard move.target != nil || move.verb != nil else { return try journey.make(move, owner.id) }
            try journey.take(move, of: owner.id)
        }
    }

    // MARK: - Without an event

    /// Goes on until nothing more follows.
    private mutating func rest() throws {
        for _ in 0...100 {
            guard let next = try unprompted() else { return }
            self = next
        }
        throw Refused()
    }

    /// Whether something that changes data is about to follow, and is refused since the journey rests.
    var isHeldBack: Bool { urges.contains { !$0.move.effects.isEmpty } }

    /// The transitions without an event whose guards hold, in the order in which they are tried.
    private var urges: [(move: ModelFlow.Move, owner: Int)] {
        guard let top = frames.last, let screen = screen(of: top) else { return [] }
        var moves: [(move: ModelFlow.Move, owner: Int)] = []
        if !mayBeOn(top), let otherwise = screen.otherwise { moves.append((otherwise, top.coordinator)) }
        var owner = coordinator(top.coordinator)
        for move in screen.always + flows[owner.flow].always where move.target != top.state {
            moves.append((move, owner.id))
        }
        while let parent = owner.parent, let startedBy = owner.startedBy {
            owner = coordinator(parent)
            for move in flows[owner.flow].always where move.target != startedBy { moves.append((move, owner.id)) }
        }
        return moves.filter { holds($0.move.condition, $0.owner) }
    }

    /// The journey after what follows next; nil when it may stay.
    private func unprompted() throws -> ModelJourney? {
        guard let top = frames.last else { return nil }
        var fresh = self
        fresh.isLink = false
        fresh.isFact = false
        fresh.isUncovered = false
        fresh.framesBefore = frames
        for (move, owner) in urges {
            var next = fresh
            if (try? next.take(move, of: owner)) != nil { return next }
        }
        guard !mayBeOn(top) else { return nil }
        var next = fresh
        if (try? next.close()) != nil { return next }
        fresh.leave()
        try fresh.end()
        fresh.outcome = "closed"
        return fresh
    }

    /// Down to where one may be.
    private mutating func close() throws {
        farewell = "closed"
        defer { farewell = "abandoned" }
        leave()
        for _ in 0..<100 {
            cut(to: placeToGoBackTo(where: { _ in true }) ?? -1)
            try release(isLed: false)
            guard let top = frames.last, let screen = screen(of: top) else { return }
            if mayBeOn(top) { return apply(screen.entry, top.coordinator) }
        }
        throw Refused()
    }

    /// Does what a transition says.
    private mutating func take(_ move: ModelFlow.Move, of coordinator: Int) throws {
        leave()
        try make(move, coordinator)
        mark(move.history)
        let isLed = try follow(move, of: coordinator)
        try settle(isLed: isLed)
    }

    /// The effects of a transition.
    private mutating func make(_ move: ModelFlow.Move, _ coordinator: Int) throws {
        guard !isLink || move.isHarmless else { throw Refused() }
        apply(move.effects, coordinator)
    }

    /// Does what the task's state says about an outcome.
    private mutating func finishTask(_ outcome: String) throws {
        guard let top = frames.last, case .task(let state) = self.state(of: top),
            let moves = state.done[outcome] ?? state.done[""], let move = try first(of: moves, top.coordinator)
        else { throw Refused() }
        isFact = true
        guard move.target == nil, move.verb == nil else { return try take(move, of: top.coordinator) }
        try make(move, top.coordinator)
        cut(to: frames.count - 2)
        try settle(isLed: false)
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
                try show(target, of: top.coordinator, verb: .replace, number: nil)
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
        guard let screen = screen(of: frame) else { return false }
        return screen.requires.allSatisfy { holds($0, frame.coordinator) }
    }

    /// The frame at that place is on top again.
    private mutating func cut(to place: Int) {
        frames.removeLast(frames.count - 1 - place)
        isUncovered = true
    }

    private mutating func leave() {
        if isUnentered {
            isUnentered = false
            return
        }
        guard let top = frames.last, let screen = screen(of: top) else { return }
        apply(screen.exit, top.coordinator)
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
        case .push, .replace, .present, .popTo, .setRoot, .resume: throw Refused()
        }
    }

    private mutating func go(
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

    private mutating func show(_ state: Int, of coordinator: Int, verb: NavigationVerb, number: Int?) throws {
        var frame = Frame(coordinator: coordinator, state: state, presentation: .push, number: number)
        if case .task(let task) = self.state(of: frame) {
            frame.task = Task(flag: read(task.flag, coordinator), dueAt: task.timeout.map { now + $0 })
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

    // MARK: - Coordinators

    private mutating func begin(_ flow: Int) throws {
        (outcome, isExpired) = (nil, false)
        let id = add(flow, parent: nil, startedBy: nil)
        let isLed = try go(to: flows[flow].initial, of: id, verb: .push)
        try settle(isLed: isLed)
    }

    private mutating func add(_ flow: Int, parent: Int?, startedBy: Int?) -> Int {
        nextID += 1
        coordinators.append(Coordinator(id: nextID, flow: flow, parent: parent, startedBy: startedBy))
        apply(flows[flow].entry, nextID)
        return nextID
    }

    /// The journey's own flow ends.
    private mutating func end() throws {
        frames = []
        guard let own = coordinators.first else { return }
        try releaseChildren(of: own.id)
        release(own.id)
    }

    private mutating func finish(_ id: Int, outcome: String) throws -> Bool {
        let ended = coordinator(id)
        guard let parent = ended.parent, let startedBy = ended.startedBy else {
            try end()
            self.outcome = outcome
            return false
        }
        let gone = family(of: id)
        frames.removeAll { gone.contains($0.coordinator) }
        if !frames.isEmpty { frames[0].presentation = .root }
        isUncovered = true
        try releaseChildren(of: id)
        release(id)
        guard let move = try told(parent, of: startedBy, outcome: outcome, byFinal: true) else { return false }
        try make(move, parent)
        guard move.target != nil || move.verb != nil else { return false }
        mark(move.history)
        return try follow(move, of: parent)
    }

    /// What a parent does about the end of a child.
    private func told(_ parent: Int, of state: Int, outcome: String, byFinal: Bool) throws -> ModelFlow.Move? {
        guard case .flow(_, let done) = flows[coordinator(parent).flow].states[state] else { return nil }
        let moves = done[outcome] ?? (byFinal ? done[""] : outcome == "closed" ? done["abandoned"] : nil) ?? []
        // What closes is not kept from it by what is undecided.
        return farewell == "closed" ? moves.first { holds($0.condition, parent) } : try first(of: moves, parent)
    }

    /// What is left to be done after a move: who has lost everything is released, and the new screen is entered.
    private mutating func settle(isLed: Bool) throws {
        try release(isLed: isLed)
        output = nil
        guard let top = frames.last, let screen = screen(of: top) else { return }
        guard mayBeOn(top) else {
            guard isFact else { throw Refused() }
            isUnentered = true
            return
        }
        apply(screen.entry, top.coordinator)
    }

    private mutating func release(isLed: Bool) throws {
        var isLed = isLed
        while true {
            // A screen that shows itself again, and that one may not be on any more, leaves, too.
            while isUncovered, frames.count > 1, let top = frames.last, !mayBeOn(top) { frames.removeLast() }
            guard let lost = coordinators.last(where: { !isPresent($0.id) }) else { break }
            guard let parent = lost.parent, let startedBy = lost.startedBy else {
                try end()
                outcome = farewell
                return
            }
            release(lost.id)
            guard let move = try told(parent, of: startedBy, outcome: farewell, byFinal: false) else { continue }
            try make(move, parent)
            let isOnItsWayOut = !isPresent(parent) && framesBefore.contains { $0.coordinator == parent }
            if move.target != nil || move.verb != nil, !isLed, !isOnItsWayOut {
                mark(move.history)
                isLed = try follow(move, of: parent)
            }
        }
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
    private mutating func releaseChildren(of id: Int) throws {
        for child in family(of: id).dropFirst().reversed() {
            let gone = coordinator(child)
            release(child)
            guard let parent = gone.parent, let startedBy = gone.startedBy else { continue }
            if let move = try told(parent, of: startedBy, outcome: farewell, byFinal: false) {
                try make(move, parent)
            }
        }
    }

    private mutating func release(_ id: Int) {
        apply(flows[coordinator(id).flow].exit, id)
        for place in owned.indices.reversed() where owned[place].coordinator == id {
            removed.append(owned.remove(at: place).service)
        }
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

    /// A task shows a screen without anything of its own.
    private func screen(of frame: Frame) -> ModelFlow.Screen? {
        switch state(of: frame) {
        case .screen(let screen): screen
        case .task(let task): ModelFlow.Screen(back: task.mayGoBack ? .allowed : .forbidden)
        case .choice, .flow, .final: nil
        }
    }

    /// The frame of a task is always on top.
    var task: Task? { frames.last?.task }
    private var isBusy: Bool { task != nil }

    // MARK: - Data

    /// Who has the service that a coordinator sees; nil for the session.
    func owner(of service: String, seenBy coordinator: Int?) -> Int? {
        guard let coordinator else { return nil }
        let here = self.coordinator(coordinator)
        return flows[here.flow].owns.contains(service) ? here.id : owner(of: service, seenBy: here.parent)
    }

    /// The service that a coordinator sees.
    func flags(of service: String, seenBy coordinator: Int?) -> [String: Bool] {
        guard let owner = owner(of: service, seenBy: coordinator) else { return session[service] ?? [:] }
        let written = owned.first { $0.coordinator == owner && $0.service == service }
        return written?.flags ?? ModelFlow.services[service] ?? [:]
    }

    private func read(_ flag: String, _ coordinator: Int?) -> Bool {
        flags(of: ModelFlow.service(of: flag), seenBy: coordinator)[flag] ?? false
    }

    private mutating func set(_ flag: String, _ value: Bool, _ coordinator: Int?) {
        let service = ModelFlow.service(of: flag)
        var flags = flags(of: service, seenBy: coordinator)
        flags[flag] = value
        guard let owner = owner(of: service, seenBy: coordinator) else {
            session[service] = flags
            return
        }
        if let place = owned.firstIndex(where: { $0.coordinator == owner && $0.service == service }) {
            owned[place].flags = flags
        } else {
            owned.append(Owned(coordinator: owner, service: service, flags: flags))
        }
    }

    private mutating func remove(_ service: String, _ coordinator: Int?) {
        guard let owner = owner(of: service, seenBy: coordinator) else {
            session[service] = ModelFlow.services[service]
            return
        }
        guard let place = owned.firstIndex(where: { $0.coordinator == owner && $0.service == service }) else { return }
        owned.remove(at: place)
        removed.append(service)
    }

    /// The first move whose condition holds. What is undecided refuses them all.
    private func first(of moves: [ModelFlow.Move], _ coordinator: Int) throws -> ModelFlow.Move? {
        for move in moves {
            guard let condition = move.condition else { return move }
            guard let verdict = verdict(condition, coordinator) else { throw Refused() }
            if verdict { return move }
        }
        return nil
    }

    private func holds(_ condition: ModelFlow.Condition?, _ coordinator: Int) -> Bool {
        guard let condition else { return true }
        return verdict(condition, coordinator) == true
    }

    /// Nil is undecided.
    private func verdict(_ condition: ModelFlow.Condition, _ coordinator: Int) -> Bool? {
        switch condition {
        case .flag(let name, let wanted): return read(name, coordinator) == wanted
        case .isSmall: return read("n", coordinator) ? true : nil
        case .isLarge: return read("n", coordinator) ? false : nil
        case .not(let part): return verdict(part, coordinator).map { !$0 }
        case .all(let parts):
            let verdicts = parts.map { verdict($0, coordinator) }
            return verdicts.contains(false) ? false : verdicts.contains(nil) ? nil : true
        case .any(let parts):
            let verdicts = parts.map { verdict($0, coordinator) }
            return verdicts.contains(true) ? true : verdicts.contains(nil) ? nil : false
        }
    }

    private mutating func apply(_ effects: [ModelFlow.Effect], _ coordinator: Int) {
        for effect in effects {
            if case .note(let word) = effect {
                notes.append(word)
                continue
            }
            hasWritten = true
            switch effect {
            case .set(let flag, let value): set(flag, value, coordinator)
            case .reckon: set("n", read("a", coordinator), coordinator)
            case .take(let flag): set(flag, output ?? false, coordinator)
            case .turn(let flag):
                let was = read(flag, coordinator)
                set(flag, !was, coordinator)
                set("c", was, coordinator)
            case .clear(let service):
                // Nothing is made to be cleared.
                guard let owner = owner(of: service, seenBy: coordinator) else {
                    session[service] = ModelFlow.services[service]
                    continue
                }
                for place in owned.indices where owned[place].coordinator == owner && owned[place].service == service {
                    owned[place].flags = ModelFlow.services[service] ?? [:]
                }
            case .remove(let service): remove(service, coordinator)
            case .note: break
            }
        }
    }

    /// All of it or nothing.
    private mutating func whole(_ step: (inout ModelJourney) throws -> Void) throws {
        var copy = self
        (copy.notes, copy.removed) = ([], [])
        (copy.hasWritten, copy.hasBegun) = (false, false)
        copy.output = nil
        copy.isUncovered = false
        (copy.isFact, copy.isUnentered) = (false, false)
        copy.framesBefore = frames
        try step(&copy)
        copy.isLink = false
        try copy.rest()
        self = copy
    }
}
