/// An event as it is offered on a screen.
final class Offer: Sendable {
    let rule: EventRule
    /// Whether nothing can be in its way, whatever the data are: the first transition has no guard, does not go back, and
    /// comes to no screen that requires anything before it has done something. See ``StepRun/obstacles(to:)``.
    let isAlwaysOpen: Bool

    init(_ rule: EventRule, among states: [FlowState]) {
        self.rule = rule
        isAlwaysOpen = rule.transitions.first.map { Self.isAlwaysOpen($0, among: states) } ?? true
    }

    private static func isAlwaysOpen(_ transition: Transition, among states: [FlowState]) -> Bool {
        guard transition.guard == nil else { return false }
        switch transition.nav {
        case nil, .push, .replace, .present, .setRoot: break
        case .dismiss, .pop, .popTo, .popToRoot: return false
        }
        guard transition.actions.isEmpty, let screen = transition.target.flatMap({ states[$0].screen }) else {
            return true
        }
        return screen.requires.isEmpty
    }
}
