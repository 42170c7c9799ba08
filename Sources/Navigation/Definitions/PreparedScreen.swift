/// A screen with everything that can be derived from its flow when the flow is loaded. A class, because steps pass it
/// on often.
final class PreparedScreen: Sendable {
    let screen: Screen
    let text: ScreenText
    /// ``Screen/requires``.
    let requires: Requirement
    /// When these documents all fit, every event of the screen and of its flow is possible. Nil when that depends on
    /// more: on the data of an event, on the stack, on a guard of another kind; or when the label of an event holds
    /// values.
    let eventShapes: [ServiceShape]?
    /// Whether people have names for its events, of the screen or of its flow.
    let hasLabels: Bool
    /// What people call going back.
    let backLabel: TextTemplate?
    /// Whether `back` is listed while it is possible. Clients know that they can go back; listed is what they can send
    /// with it, and its label.
    let listsBack: Bool
    /// The services of which the screen's own `accepts` show parts: see ``FlowDefinition/formServices``.
    let formServices: [String]

    /// More different shapes are not worth comparing with each other.
    private static let maximumShapes = 32

    /// - Parameters:
    ///   - id: of the state.
    ///   - flow: the id of the flow; what follows are its states, events, named guards and labels.
    ///   - isBusy: whether it is the screen of a task.
    init(
        _ screen: Screen, id: String, flow: String, states: [FlowState], events: [EventRule], named: [NamedGuard],
        labels: [String: TextTemplate], isBusy: Bool
    ) {
        self.screen = screen
        requires = Requirement(screen.requires, named: named)
        backLabel = screen.labels[EventRule.back] ?? labels[EventRule.back]
        listsBack = backLabel != nil || screen.accepts[EventRule.back] != nil
        // Clients are not shown the events of back ends.
        let rules = (screen.events + events.filter { screen.rule(for: $0.event) == nil }).filter { !$0.isBackend }
        let labelled = rules.map { (name: $0.event, label: screen.labels[$0.event] ?? labels[$0.event]) }
        hasLabels = labelled.contains { $0.label != nil }
        text = ScreenText(screen, id: id, flow: flow, events: labelled, isBusy: isBusy)
        formServices = screen.accepts.shownServices(named)
        if labelled.contains(where: { $0.label != nil && $0.label?.plain == nil }) {
            eventShapes = nil
            return
        }
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
        guard transition.isUnconditional else { return nil }
        switch transition.nav {
        case nil, .push, .replace, .present, .setRoot, .popTo: break
        case .dismiss, .pop, .popToRoot, .resume: return nil
        }
        // An action on the way may do just what the next screen requires.
        guard transition.actions.isEmpty, screen.exit.isEmpty,
            let target = transition.target.flatMap({ states[$0].screen })
        else { return [] }
        let requires = Requirement(target.requires, named: named)
        return requires.others.isEmpty ? requires.shapes : nil
    }
}

/// Guards that must all hold, made ready to be asked often.
///
/// Nearly all guards ask whether the document of a service fits a schema. These are kept apart, so that
/// ``StepServices/fit(_:)`` can answer them without looking at anything else of the step.
struct Requirement: Sendable {
    /// The guards as the file has them, for the reasons when they do not hold.
    let guards: [Guard]
    /// The guards that ask for the shape of a service's document, with names and `all` resolved.
    let shapes: [ServiceShape]
    /// All other guards.
    let others: [Guard]

    /// Bounds the resolving: the flow is not checked yet, so names may refer to each other in a circle.
    private static let maximumSteps = 64

    /// - Parameter named: the named guards of the flow.
    init(_ guards: [Guard], named: [NamedGuard]) {
        var shapes: [ServiceShape] = []
        var others: [Guard] = []
        var rest = Array(guards.reversed())
        var steps = 0
        while let next = rest.popLast() {
            steps += 1
            switch next {
            case .shape(of: let path, let rule) where path.service != nil:
                shapes.append(ServiceShape(path.service ?? "", rule))
            case .all(let parts) where steps < Self.maximumSteps: rest += parts.reversed()
            case .named(let place) where steps < Self.maximumSteps: rest.append(named[place].guard)
            default: others.append(next)
            }
        }
        self.guards = guards
        self.shapes = shapes
        self.others = others
    }
}

/// A guard that asks for the shape of a service's document. A class, because steps pass it on often.
final class ServiceShape: Sendable {
    let service: String
    let rule: ShapeRule

    init(_ service: String, _ rule: ShapeRule) {
        self.service = service
        self.rule = rule
    }

    func isSame(as other: ServiceShape) -> Bool { service == other.service && rule.schema === other.rule.schema }
}
