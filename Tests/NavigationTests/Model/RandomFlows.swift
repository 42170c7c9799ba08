import Navigation
import SeededRandomness

/// Sets of flows at random, made so that they pass the checks: every state can be reached, every screen has a way on,
/// and no chain of choices and children goes on without a screen.
struct RandomFlows {
    static let flags = ["a", "b", "c"]
    static let events = ["e0", "e1", "e2", "e3", "back"]
    /// The values that screens ask for.
    static let values = ["x", "y"]
    /// When journeys begin, in milliseconds. Moments of the data are soon after it.
    static let start: Int64 = 1_000_000
    /// Clocks ring at multiples of this, so that many ring at one time.
    static let tick: Int64 = 10_000

    var generator: SeededGenerator
    private var logic: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        logic = SeededGenerator(seed: ~seed)
    }

    mutating func make() -> [ModelFlow] {
        let count = number(1...4)
        return (0..<count).map { make($0, of: count) }
    }

    private mutating func make(_ place: Int, of count: Int) -> ModelFlow {
        // Screens first, then finals, children and choices, so that what is where is known before any is made.
        let screens = number(2...6)
        let finals = number(1...2)
        let children = count > 1 ? number(0...2) : 0
        let choices = number(0...2)
        let tasks = happens(1, in: 2) ? number(1...2) : 0
        let kinds = Places(screens: screens, finals: finals, children: children, choices: choices, tasks: tasks)
        var flow = ModelFlow(
            id: "f\(place)", initial: 0, states: [], events: [:], entry: effects("f\(place)+"),
            exit: effects("f\(place)-"), owns: ModelFlow.services.keys.sorted().filter { _ in happens(1, in: 3) })
        if happens(1, in: 4) { flow.timers = timers("f\(place)", kinds) }
        if happens(1, in: 8) { flow.limit.idle = Int64(number(3...9)) * Self.tick }
        if happens(1, in: 8) { flow.limit.total = Int64(number(6...30)) * Self.tick }
        for state in 0..<kinds.count {
            let tag = "f\(place)s\(state)"
            flow.states.append(self.state(state, tag, kinds, flows: count))
        }
        // A row through all of them, so that each is reached from the one before.
        for screen in 0..<screens {
            guard case .screen(var made) = flow.states[screen] else { continue }
            made.events["next"] = [move(to: (screen + 1) % screens, kinds)]
            flow.states[screen] = .screen(made)
        }
        for other in screens..<kinds.count {
            let screen = number(0...(screens - 1))
            guard case .screen(var made) = flow.states[screen] else { continue }
            made.events["go\(other)"] = [move(to: other, kinds)]
            flow.states[screen] = .screen(made)
        }
        for event in ["e2", "e3"] where happens(1, in: 3) {
            flow.events[event] = [move(kinds)]
        }
        // Only upwards, and at the top of the flow to the highest: nothing may turn in a circle.
        for screen in 0..<(screens - 1) where happens(1, in: 6) {
            guard case .screen(var made) = flow.states[screen] else { continue }
            made.always = [unprompted(to: number((screen + 1)...(screens - 1)))]
            flow.states[screen] = .screen(made)
        }
        if happens(1, in: 5) { flow.always = [unprompted(to: screens - 1)] }
        if happens(1, in: 4), let choice = kinds.choices.first { flow.initial = choice }
        if happens(1, in: 6), let task = kinds.tasks.first, case .task(var first) = flow.states[task] {
            flow.initial = task
            // So that a screen is reached.
            first.done[""] = [ModelFlow.Move(target: 0, effects: effects("task"))]
            flow.states[task] = .task(first)
        }
        return flow
    }

    private mutating func state(_ state: Int, _ tag: String, _ kinds: Places, flows: Int) -> ModelFlow.State {
        if kinds.screens.contains(state) {
            var screen = ModelFlow.Screen(entry: effects("\(tag)+"), exit: effects("\(tag)-"))
            for event in ["e0", "e1", "e2"] where happens(1, in: 2) {
                screen.events[event] =
                    happens(1, in: 3) ? [move(kinds, conditional: true), move(kinds)] : [move(kinds)]
            }
            if happens(1, in: 2) { screen.answers = Self.values.filter { _ in happens(1, in: 3) } }
            if happens(1, in: 4) { screen.timers = timers(tag, kinds) }
            if happens(1, in: 6) {
                let move = happens(2, in: 3) ? move(to: number(0...(kinds.count - 1)), kinds) : nil
                screen.timeout = ModelFlow.Timeout(after: duration(), move: move)
            }
            if happens(1, in: 4) { screen.requires = [flag()] }
            if !screen.requires.isEmpty, happens(1, in: 2) {
                screen.otherwise = move(to: number(0...(kinds.count - 1)), kinds)
            }
            if happens(1, in: 6) { screen.back = .forbidden }
            if happens(1, in: 6) { screen.back = .target(number(kinds.screens)) }
            return .screen(screen)
        }
        if kinds.finals.contains(state) { return .final(outcome: "o\(state - kinds.finals.lowerBound)") }
        if kinds.children.contains(state) {
            var done: [String: [ModelFlow.Move]] = ["": [end(kinds)]]
            if happens(1, in: 2) { done["o0"] = [end(kinds)] }
            if happens(1, in: 2) { done["abandoned"] = [end(kinds)] }
            if happens(1, in: 4) { done["closed"] = [end(kinds)] }
            if happens(1, in: 2) { done["expired"] = [end(kinds)] }
            return .flow(number(0...(flows - 1)), done: done)
        }
        if kinds.tasks.contains(state) { return .task(task(kinds)) }
        // A choice leads to screens only, so that a flow may begin with one.
        var branches = [ModelFlow.Move(target: number(kinds.screens), effects: effects(tag))]
        branches.insert(ModelFlow.Move(condition: condition(), target: number(kinds.screens)), at: 0)
        if happens(1, in: 3) { branches[0].verb = pick([.push, .replace, .present]) }
        return .choice(branches)
    }

    /// A transition at the end of a child.
    private mutating func end(_ kinds: Places) -> ModelFlow.Move {
        var end = happens(1, in: 2) ? ModelFlow.Move() : ModelFlow.Move(target: number(0...(kinds.count - 1)))
        end.effects = effects("end")
        if happens(1, in: 4), let target = end.target, kinds.screens.contains(target) { end.verb = .replace }
        return end
    }

    private mutating func task(_ kinds: Places) -> ModelFlow.Task {
        var task = ModelFlow.Task(
            done: ["": [ending(kinds)]], mayGoBack: happens(1, in: 3), flag: pick(Self.flags))
        if happens(1, in: 2) { task.timeout = duration() }
        if happens(1, in: 4) { task.timers = timers("task", kinds) }
        for outcome in ["o0", "failed"] + (task.timeout == nil ? [] : ["timeout"]) where happens(1, in: 2) {
            task.done[outcome] = [ending(kinds, conditional: true)] + (happens(1, in: 2) ? [ending(kinds)] : [])
        }
        return task
    }

    /// A transition at the end of a task.
    private mutating func ending(_ kinds: Places, conditional: Bool = false) -> ModelFlow.Move {
        var move = move(kinds, conditional: conditional)
        if happens(1, in: 2) { move.effects.append(.take(pick(Self.flags))) }
        return move
    }

    /// A transition without an event.
    private mutating func unprompted(to target: Int) -> ModelFlow.Move {
        ModelFlow.Move(
            condition: condition(), target: target, verb: pick([nil, .push, .present, .replace, .popTo, .setRoot]),
            effects: effects("u"))
    }

    private mutating func move(_ kinds: Places, conditional: Bool = false) -> ModelFlow.Move {
        var move: ModelFlow.Move
        switch number(0...9) {
        case 0: move = ModelFlow.Move()
        case 1: move = ModelFlow.Move(verb: pick([.pop, .dismiss, .popToRoot]))
        default: move = self.move(to: number(0...(kinds.count - 1)), kinds)
        }
        move.effects = effects("t\(number(0...99))")
        if conditional { move.condition = condition() }
        return move
    }

    private mutating func move(to target: Int, _ kinds: Places) -> ModelFlow.Move {
        var move = ModelFlow.Move(target: target)
        if kinds.screens.contains(target) {
            move.verb = pick([nil, .push, .push, .present, .replace, .popTo, .popToRoot, .dismiss, .pop, .setRoot])
        } else if !kinds.finals.contains(target) {
            move.verb = pick([nil, .push, .present, .replace, .setRoot])
        }
        if happens(1, in: 6) { move.history = pick([.discard, .invalidate]) }
        if happens(1, in: 6) { move.number = number(0...2) }
        if happens(1, in: 8) { move.link = happens(1, in: 2) }
        return move
    }

    private mutating func timers(_ tag: String, _ kinds: Places) -> [ModelFlow.Timer] {
        (0..<number(1...2)).map { place in
            var timer = ModelFlow.Timer(start: .after(duration()), move: move(kinds, conditional: happens(1, in: 4)))
            if happens(1, in: 2) { timer.move = ModelFlow.Move(condition: timer.move.condition) }
            timer.move.effects.append(.note("\(tag)t\(place)"))
            // A moment that has passed is due at once: one that led back to its screen would ring without end.
            if !timer.move.isMove, happens(1, in: 2) {
                timer.start = .at(flag: pick(Self.flags), up: moment(), down: moment())
            }
            if happens(1, in: 2) {
                timer.every = duration()
                if happens(1, in: 2) { timer.times = number(1...3) }
            }
            if happens(1, in: 3) { timer.id = "t\(place)" }
            return timer
        }
    }

    private mutating func duration() -> Int64 { Int64(number(1...4)) * Self.tick }

    private mutating func moment() -> Int64? {
        happens(1, in: 4) ? nil : Self.start + Int64(number(0...30)) * Self.tick
    }

    private mutating func effects(_ tag: String) -> [ModelFlow.Effect] {
        var effects: [ModelFlow.Effect] = []
        if happens(1, in: 2) { effects.append(.note(tag)) }
        if happens(1, in: 5) { effects.append(.set(pick(Self.flags), happens(1, in: 2))) }
        if Int.random(in: 1...8, using: &logic) == 1 { effects.append(.reckon) }
        if Int.random(in: 1...8, using: &logic) == 1, let flag = Self.flags.randomElement(using: &logic) {
            effects.append(.turn(flag))
        }
        if happens(1, in: 12) {
            effects.append(happens(1, in: 2) ? .give(pick(Self.values)) : .empty(pick(Self.values)))
        }
        if happens(1, in: 16) {
            effects.append(happens(1, in: 2) ? .clear(pick(["d", "k"])) : .remove(pick(["d", "k"])))
        }
        return effects
    }

    private mutating func flag() -> ModelFlow.Condition {
        .flag(pick(Self.flags), wanted: happens(1, in: 2))
    }

    private mutating func condition() -> ModelFlow.Condition { combined(flag(), depth: 0) }

    /// A condition as it is, or as a part of others. Has chances of its own, so that flows keep their shapes.
    private mutating func combined(_ condition: ModelFlow.Condition, depth: Int) -> ModelFlow.Condition {
        func happens(_ times: Int, in all: Int) -> Bool { Int.random(in: 1...all, using: &logic) <= times }
        if depth == 2 || happens(1, in: 2) { return condition }
        let other: ModelFlow.Condition = happens(1, in: 2) ? .isSmall : .isLarge
        let parts = [combined(happens(1, in: 2) ? condition : other, depth: depth + 1), other]
        if happens(1, in: 3) { return .not(parts[0]) }
        return happens(1, in: 2) ? .all(parts) : .any(parts.reversed())
    }

    // MARK: - Random choices

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    mutating func happens(_ times: Int, in all: Int) -> Bool { number(1...all) <= times }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0...(elements.count - 1))] }

    /// Which states are what.
    private struct Places {
        let screens: Range<Int>
        let finals: Range<Int>
        let children: Range<Int>
        let choices: Range<Int>
        let tasks: Range<Int>

        init(screens: Int, finals: Int, children: Int, choices: Int, tasks: Int) {
            self.screens = 0..<screens
            self.finals = screens..<(screens + finals)
            self.children = (screens + finals)..<(screens + finals + children)
            self.choices = (screens + finals + children)..<(screens + finals + children + choices)
            self.tasks = self.choices.upperBound..<(self.choices.upperBound + tasks)
        }

        var count: Int { tasks.upperBound }
    }
}
