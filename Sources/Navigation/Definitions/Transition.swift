import JSONDocument

/// What a flow does about an event, the end of a child flow, a timeout or a choice.
///
/// A branch of a choice is a transition, too: it always has a target, and its history policy is `preserve`.
public struct Transition: Sendable {
    /// The transition is taken only when this holds. Nil always holds.
    public let `guard`: Guard?
    /// The index of a state in the flow of the transition. Nil stays, unless ``nav`` goes back.
    public let target: Int?
    /// Nil when the file names none: `push` where there is a target; in a choice, the verb that led to the choice.
    public let nav: NavigationVerb?
    /// The changes of services that are made when the transition is taken.
    public let actions: [Action]
    /// What going back finds later of the screen that the transition leaves.
    public let history: HistoryPolicy
    /// Makes the values that the new frame keeps; nil for none.
    public let params: ValueTemplate?
    /// Whether a link may take the transition; nil when it does no damage.
    public let link: Bool?
    /// What the person is told after the step, with values still in braces.
    public let say: TextTemplate?
    /// The JSON Pointer of the transition in its file.
    public let place: String

    static let keys = FlowKeys(commonKeys, and: ["history": .choice(HistoryPolicy.self)])
    /// Where `back` leads is said by the screen's key of that name.
    static let backKeys = FlowKeys([
        "guard": .ref("guard"), "actions": .ref("actions"), "link": ["type": "boolean"],
    ])
    static let branchKeys = FlowKeys(commonKeys, and: [:], required: ["target"])
    private static let commonKeys = FlowKeys([
        "guard": .ref("guard"), "target": .name, "nav": .choice(NavigationVerb.self), "actions": .ref("actions"),
        "params": ["type": "object"], "link": ["type": "boolean"],
        "say": .text,
    ])

    /// Whether it may be taken whatever the data is.
    var isUnconditional: Bool { `guard` == nil }

    /// Whether the way back is lost.
    var clearsWayBack: Bool { nav == .setRoot || history == .invalidate }

    /// Whether a link may take the transition. Without a word in the file, only when nothing is lost by it.
    var isOpenToLinks: Bool { link ?? (actions.isEmpty && !clearsWayBack) }

    /// Whether another screen may be on top afterwards.
    public var moves: Bool { target != nil || nav != nil }
}

/// What a transition does to the navigation stack; ``StackMove`` has the rules.
public enum NavigationVerb: String, Sendable, CaseIterable {
    /// Puts a frame on top.
    case push
    /// Puts a frame in place of the top frame.
    case replace
    /// Opens a modal context, which has a stack of its own until it is dismissed.
    case present
    /// Closes the topmost modal context. With a target: pushes it then, unless it is on top already.
    case dismiss
    /// Goes back by one. With a target: pushes it then, unless it is on top already.
    case pop
    /// Goes back to the nearest frame of the target; without one, pushes the target.
    case popTo = "pop_to"
    /// Goes back to the first frame of this context. With a target: pushes it then, unless it is on top already.
    case popToRoot = "pop_to_root"
    /// Removes all frames, releases all children, and makes the target the root of a new stack.
    case setRoot = "set_root"
    /// Goes forward to the target, past every screen that is answered, and stops on the first that is not.
    case resume

    /// Whether the verb works without a target.
    public var standsAlone: Bool { self == .dismiss || self == .pop || self == .popToRoot }
}

/// What going back finds later of the screen that a transition leaves.
public enum HistoryPolicy: String, Sendable, CaseIterable {
    /// The frame, as it was.
    case preserve
    /// Nothing: going back skips the frame.
    case discard
    /// Nothing, neither this frame nor any below it.
    case invalidate
}

/// A transition of a flow and what takes it.
package struct CausedTransition {
    package enum Cause {
        case event(String)
        /// A timer or the timeout of that screen; of the flow for nil.
        case timer(FlowTimer, screen: String?)
        case choice
        /// The end of a child flow or of a task: `done` or `done.<outcome>`.
        case end(String)
        /// The `requires` of that screen do not hold any more.
        case closed(screen: String)
        /// Its guard.
        case always
    }

    package let cause: Cause
    package let transition: Transition
}

extension FlowDefinition {
    /// Every transition at the top of the flow.
    package var causedTransitions: [CausedTransition] {
        events.caused + timers.caused(on: nil) + always.map { CausedTransition(cause: .always, transition: $0) }
    }
}

extension FlowDefinition {
    /// Every transition of the flow, in the order of its states.
    package var allTransitions: [CausedTransition] { states.flatMap(\.causedTransitions) + causedTransitions }
}

extension FlowState {
    /// Every transition of the state. The checks and the scripts that cover a flow read this list, so a new kind of
    /// transition is added here.
    package var causedTransitions: [CausedTransition] {
        switch kind {
        case .screen(let screen):
            return screen.events.caused + [screen.onBack].compactMap(\.self).caused + screen.timers.caused(on: id)
                + screen.otherwise.map { CausedTransition(cause: .closed(screen: id), transition: $0) }
                + screen.always.map { CausedTransition(cause: .always, transition: $0) }
        case .choice(let branches): return branches.map { CausedTransition(cause: .choice, transition: $0) }
        case .flow(let child): return child.ends.caused
        case .task(let task): return task.ends.caused + task.screen.timers.caused(on: id)
        case .final: return []
        }
    }
}

extension [FlowTimer] {
    /// - Parameter screen: nil for those of the flow.
    fileprivate func caused(on screen: String?) -> [CausedTransition] {
        compactMap { timer in
            timer.transition.map { CausedTransition(cause: .timer(timer, screen: screen), transition: $0) }
        }
    }
}

extension FlowReader {
    /// Reads one transition or a list of them.
    mutating func transitions(_ node: FlowNode, _ context: DataContext) -> [Transition] {
        guard let list = node.elements else { return transition(node, context).map { [$0] } ?? [] }
        if list.isEmpty { report(node.place, .badValue, "the array of transitions is empty") }
        checkOrder(list, "a transition")
        return list.compactMap { transition($0, context) }
    }

    /// Reads what `on` says of `back`, which moves by itself.
    mutating func backTransitions(_ node: FlowNode, _ context: DataContext) -> [Transition] {
        for transition in node.elements ?? [node] {
            guard let written = transition["target"] ?? transition["nav"] else { continue }
            report(
                written.place, .misplacedVerb,
                "`on` says what happens before `back` leads to the screen below; \"back\": {\"target\": …} of the screen "
                    + "says where else it leads")
        }
        return transitions(node, context)
    }

    /// Reports what is behind an element without a guard.
    private mutating func checkOrder(_ list: [FlowNode], _ what: String) {
        guard let last = list.firstIndex(where: { $0.isObject && !$0.has("guard") }) else { return }
        for node in list[(last + 1)...] {
            report(node.place, .unreachableTransition, "\(what) above has no guard, so this one is never taken")
        }
    }

    mutating func transition(
        _ node: FlowNode, _ context: DataContext, keys: FlowKeys = Transition.keys, _ what: String = "a transition"
    ) -> Transition? {
        let hint = what == "a transition" ? node.string.map { "; write {\"target\": \"\($0)\"}" } : nil
        guard let node = object(node, keys, what, hint: hint ?? "") else { return nil }
        let guardian = node["guard"].flatMap { readGuard($0, context) }
        let needsTarget = keys.required.contains("target")
        let target = state(needsTarget ? required("target", in: node) : node["target"])
        let nav: NavigationVerb? = choice(node["nav"])
        var afterActions = context
        let actions = actions(node["actions"], &afterActions)
        let history: HistoryPolicy = choice(node["history"]) ?? .preserve
        if target == nil {
            // Without its target it would be another transition, with other problems.
            if needsTarget || node.has("target") { return nil }
            if let verb = node["nav"], let nav, !nav.standsAlone {
                return refuse(verb, .misplacedVerb, "\(nav.rawValue) needs a target")
            }
            if nav == nil, let history = node["history"] {
                report(
                    history.place, .misplacedVerb, "history has no effect on a transition without a target")
            }
        }
        return Transition(
            guard: guardian, target: target, nav: nav, actions: actions, history: history,
            params: params(node["params"], hasTarget: node.has("target"), context), link: bool(node["link"]),
            say: localText(node["say"], afterActions.saidOnce),
            place: node.place.description)
    }

    /// The values that a transition gives to the frame that it makes.
    private mutating func params(_ node: FlowNode?, hasTarget: Bool, _ context: DataContext) -> ValueTemplate? {
        guard let node else { return nil }
        guard node.isObject else { return refuse(node, expecting: "an object") }
        if !hasTarget { report(node.place, .misplacedVerb, "params need a target: they belong to its screen") }
        return readTemplate(node, context)
    }

    /// The branches of a choice.
    mutating func branches(of node: FlowNode) -> [Transition] {
        checkKeys(of: node, FlowState.choiceKeys, "a choice")
        guard let written = required("branches", in: node, ": the ways out of the choice") else { return [] }
        let list = elements(written)
        checkOrder(list, "a branch")
        if written.value.kind == .array, !list.contains(where: { $0.isObject && !$0.has("guard") }) {
            report(
                written.place, .choiceWithoutDefault,
                list.isEmpty
                    ? "the choice has no branches; the last must have no guard"
                    : "each branch has a guard; the last must have none, so that there always is a way out")
        }
        return list.compactMap { transition($0, .anything, keys: Transition.branchKeys, "a branch") }
    }

    /// The transitions of `always`, each of which has a guard.
    mutating func always(_ node: FlowNode?) -> [Transition] {
        let transitions = unprompted(node)
        for transition in transitions where transition.guard == nil {
            report(
                JSONPointer(parsing: transition.place) ?? .root, .missingKey,
                "guard is missing: the journey would always leave the screen at once; use a choice for that")
        }
        return transitions
    }

    /// Transitions that no event takes.
    mutating func unprompted(_ node: FlowNode?) -> [Transition] {
        guard let node else { return [] }
        return transitions(node, .noEvent).filter { transition in
            if !transition.moves {
                report(
                    JSONPointer(parsing: transition.place) ?? node.place, .missingKey,
                    "target is missing: \(node.key) leads to another screen")
            }
            return transition.moves
        }
    }

    /// The transitions for the ends of a child flow or a task.
    ///
    /// - Parameters:
    ///   - what: "a child flow"
    ///   - context: the data for an outcome; nil for `done`.
    mutating func ends(
        _ node: FlowNode?, of what: String, notEmpty: Bool = false, _ context: (String?) -> DataContext
    ) -> [ChildEnd] {
        members(node, notEmpty: notEmpty).compactMap { name, node in
            guard name == "done" || (name.hasPrefix("done.") && name.utf8.count > "done.".utf8.count) else {
                return refuse(
                    node, .unknownEvent, "on \(what) only \"done\" and \"done.<outcome>\" happen",
                    guess: guess(name, among: ["done", "done.\(name)"]))
            }
            let outcome = name == "done" ? nil : String(name.dropFirst("done.".count))
            return ChildEnd(outcome: outcome, transitions: transitions(node, context(outcome)))
        }
    }
}
