/// A screen with everything that can be derived from its flow when the flow is loaded. A class, because steps pass it
/// on often.
final class PreparedScreen: Sendable {
    let screen: Screen
    let text: ScreenText
    /// ``Screen/requires``.
    let requires: Requirement
    /// When these documents all fit, every event of the screen and of its flow is possible. Nil when that depends on
    /// more: on the data of an event, on the stack, on a guard of another kind.
    let eventShapes: [ServiceShape]?

    /// More different shapes are not worth comparing with each other.
    private static let maximumShapes = 32

    /// - Parameters:
    ///   - id: of the state.
    ///   - flow: the id of the flow; what follows are its states, events and named guards.
    init(
        _ screen: Screen, id: String, flow: String, states: [FlowState], events: [EventRule], named: [NamedGuard]
    ) {
        self.screen = screen
        requires = Requirement(screen.requires, named: named)
        let rules = screen.events + events.filter { screen.rule(for: $0.event) == nil }
        text = ScreenText(screen, id: id, flow: flow, events: rules.map(\.event))
        eventShapes = rules.reduce([]) { all, rule in
            guard let all, all.count <= Self.maximumShapes,
                let shapes = Self.shapes(for: rule, on: screen, states, named)
            else { return nil }
            return all + shapes.filter { shape in !all.contains { $0.isSame(as: shape) } }
        }
    }

    /// The shapes that make an event possible, whatever else is the case; see ``StepRun/obstacles(to:)``.
    private static func shapes(
        for rule: EventRule, on screen: Screen, _ states: [FlowState], _ named: [NamedGuard]
    ) -> [ServiceShape]? {
        guard let transition = rule.transitions.first else { return [] }
        guard transition.guard == nil else { return nil }
        switch transition.nav {
        case nil, .push, .replace, .present, .setRoot: break
        case .dismiss, .pop, .popTo, .popToRoot: return nil
        }
        // An action on the way may do just what the next screen requires.
        guard transition.actions.isEmpty, screen.exit.isEmpty,
            let target = transition.target.flatMap({ states[$0].screen })
        else { return [] }
        let requires = Requirement(target.requires, named: named)
        return requires.others.isEmpty ? requires.shapes : nil
    }
}
