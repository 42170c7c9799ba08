/// A screen with all that was found out about it when its flow was loaded. One object, for steps hand it on a lot.
final class PreparedScreen: Sendable {
    let screen: Screen
    /// How it is shown.
    let text: ScreenText
    /// The names of ``Screen/data`` as members.
    let dataNames: [[UInt8]]
    /// What may happen on it if no other flow runs below its own: its own events, then the flow's that it has not.
    let offers: [Offer]
    /// What all of the offers need; nil where that cannot be said of one, see ``Offer/needs``.
    let needsOfOffers: [ServiceShape]?
    /// How the offers are shown when each would do something.
    let offersText: [UInt8]
    /// What must hold to be here, where services alone are asked; nil where ``Screen/requires`` has to be.
    let needs: [ServiceShape]?

    init(_ screen: Screen, id: String, flow: String, offers: [Offer], named: [NamedGuard]) {
        self.screen = screen
        text = ScreenText(screen, id: id, flow: flow)
        dataNames = screen.data.map(ScreenText.member)
        self.offers = offers
        needsOfOffers = offers.reduce([]) { all, offer in
            // Very many are not worth finding out which are the same.
            guard let all, let needs = offer.needs, all.count <= ServiceShape.maximumParts else { return nil }
            return all + needs.filter { need in !all.contains { $0.isSame(as: need) } }
        }
        offersText = ScreenText.enabled(offers.map(\.rule.event))
        needs = ServiceShape.all(of: screen.requires, named: named)
    }
}

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

/// A guard that asks for the shape of a service's document, and for nothing else: what nearly all guards are.
final class ServiceShape: Sendable {
    let service: String
    let rule: ShapeRule

    private init(_ service: String, _ rule: ShapeRule) {
        self.service = service
        self.rule = rule
    }

    func isSame(as other: ServiceShape) -> Bool { service == other.service && rule.schema === other.rule.schema }

    /// Names and lists that are gone through count as well. A sensible list has one or two parts.
    static let maximumParts = 32

    /// Such guards in a row, in the order in which they are asked; nil when others are among them, or very many.
    ///
    /// - Parameter named: the guards that have names. They may be made of each other: the flow is not checked yet.
    static func all(of guards: [Guard], named: [NamedGuard]) -> [ServiceShape]? {
        var shapes: [ServiceShape] = []
        var rest = Array(guards.reversed())
        for _ in 0...maximumParts {
            guard let next = rest.popLast() else { return shapes }
            switch next {
            case .shape(of: .service(let service), let rule): shapes.append(ServiceShape(service, rule))
            case .all(let parts): rest += parts.reversed()
            case .named(let place): rest.append(named[place].guard)
            case .shape, .any, .not, .compare: return nil
            }
        }
        return nil
    }
}
