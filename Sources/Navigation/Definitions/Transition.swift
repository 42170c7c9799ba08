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
    /// The JSON Pointer of the transition in its file.
    public let place: String

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

/// What an event does: its first transition whose guard holds is taken.
public struct EventRule: Sendable {
    /// The name of the event.
    public let event: String
    /// The transitions in the order in which their guards are tested.
    public let transitions: [Transition]
    /// Whether only a back end may send the event.
    public var isBackend = false
}

/// The shape that the data of an event must have.
public struct EventShape: Sendable {
    /// The name of the event.
    public let event: String
    /// The schema of the event's data.
    public let shape: ShapeRule
}

/// A transition of a flow and what takes it.
package struct CausedTransition {
    package enum Cause {
        case event(String)
        /// The time limit of that screen.
        case timeout(screen: String)
        case choice
        /// The end of a child flow or of a task.
        case end
        /// The `requires` of that screen do not hold any more.
        case closed(screen: String)
        /// Its guard.
        case always
    }

    package let cause: Cause
    package let transition: Transition
}

extension EventRule {
    fileprivate var causedTransitions: [CausedTransition] {
        transitions.map { CausedTransition(cause: .event(event), transition: $0) }
    }
}

extension FlowDefinition {
    /// Every transition at the top of the flow.
    package var causedTransitions: [CausedTransition] {
        events.flatMap(\.causedTransitions) + always.map { CausedTransition(cause: .always, transition: $0) }
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
            let timeout = screen.timeout?.transition
            return screen.events.flatMap(\.causedTransitions)
                + (timeout.map { [CausedTransition(cause: .timeout(screen: id), transition: $0)] } ?? [])
                + screen.otherwise.map { CausedTransition(cause: .closed(screen: id), transition: $0) }
                + screen.always.map { CausedTransition(cause: .always, transition: $0) }
        case .choice(let branches): return branches.map { CausedTransition(cause: .choice, transition: $0) }
        case .flow(let child):
            return child.ends.flatMap(\.transitions).map { CausedTransition(cause: .end, transition: $0) }
        case .task(let task):
            return task.ends.flatMap(\.transitions).map { CausedTransition(cause: .end, transition: $0) }
        case .final: return []
        }
    }
}
