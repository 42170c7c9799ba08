/// An event as it is offered on a screen.
final class Offer: Sendable {
    let rule: EventRule
    /// All that can be in its way, where that is documents of services that do not fit: the first transition has no guard
    /// and does not go back. Nil for what depends on more; see ``StepRun/obstacles(to:)``.
    let needs: [ServiceShape]?

    /// - Parameters:
    ///   - screen: what it is offered on.
    ///   - named: the guards of the flow that have names.
    init(_ rule: EventRule, on screen: Screen, among states: [FlowState], named: [NamedGuard]) {
        self.rule = rule
        guard let transition = rule.transitions.first else {
            needs = []
            return
        }
        needs = Self.needs(of: transition, on: screen, among: states, named)
    }

    private static func needs(
        of transition: Transition, on screen: Screen, among states: [FlowState], _ named: [NamedGuard]
    ) -> [ServiceShape]? {
        guard transition.guard == nil else { return nil }
        switch transition.nav {
        case nil, .push, .replace, .present, .setRoot: break
        case .dismiss, .pop, .popTo, .popToRoot: return nil
        }
        // What is done on the way may be just what the screen to come requires.
        guard transition.actions.isEmpty, screen.exit.isEmpty,
            let target = transition.target.flatMap({ states[$0].screen })
        else { return [] }
        return ServiceShape.all(of: target.requires, named: named)
    }
}
