import Chance
import Navigation

/// Sets of flows at random, made so that they pass the checks: every state can be reached, every screen has a way on,
/// and no chain of choices and children goes on without a screen.
struct RandomFlows {
    static let flags = ["a", "b", "c"]
    static let events = ["e0", "e1", "e2", "e3", "back"]

    var chance: SeededGenerator

    init(seed: UInt64) { chance = SeededGenerator(seed: seed) }

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
        let tasks = happens(1, in: 2) ? number(0...2) : 0
        let kinds = Places(screens: screens, finals: finals, children: children, choices: choices, tasks: tasks)
        var flow = ModelFlow(
            id: "f\(place)", initial: 0, states: [], events: [:], entry: effects("f\(place)+"),
            exit: effects("f\(place)-"))
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
        if happens(1, in: 4), let choice = kinds.choices.first { flow.initial = choice }
        if happens(1, in: 6), let task = kinds.tasks.first, case .task(var done) = flow.states[task] {
            flow.initial = task
            done[""] = [ModelFlow.Move(target: 0, effects: effects("task"))]
            flow.states[task] = .task(done: done)
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
            if happens(1, in: 6) { screen.requires = [condition()] }
            if happens(1, in: 6) { screen.back = .forbidden }
            if happens(1, in: 6) { screen.back = .target(number(kinds.screens)) }
            return .screen(screen)
        }
        if kinds.finals.contains(state) { return .final(outcome: "o\(state - kinds.finals.lowerBound)") }
        if kinds.children.contains(state) {
            var done: [String: [ModelFlow.Move]] = ["": [end(kinds)]]
            if happens(1, in: 2) { done["o0"] = [end(kinds)] }
            if happens(1, in: 2) { done["abandoned"] = [end(kinds)] }
            return .flow(number(0...(flows - 1)), done: done)
        }
        if kinds.tasks.contains(state) {
            var done: [String: [ModelFlow.Move]] = ["": [end(kinds)]]
            if happens(1, in: 2) { done["o0"] = [move(kinds, conditional: true), end(kinds)] }
            return .task(done: done)
        }
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
        return move
    }

    private mutating func effects(_ tag: String) -> [ModelFlow.Effect] {
        var effects: [ModelFlow.Effect] = []
        if happens(1, in: 2) { effects.append(.note(tag)) }
        if happens(1, in: 5) { effects.append(.set(pick(Self.flags), happens(1, in: 2))) }
        return effects
    }

    private mutating func condition() -> ModelFlow.Condition {
        ModelFlow.Condition(flag: pick(Self.flags), wanted: happens(1, in: 2))
    }

    // MARK: - Chance

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &chance) }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &chance) }

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
