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
            case .shape(of: .service(let service), let rule): shapes.append(ServiceShape(service, rule))
            case .all(let parts) where steps < Self.maximumSteps: rest += parts.reversed()
            case .named(let place) where steps < Self.maximumSteps: rest.append(named[place].guard)
            case .all, .named, .shape, .any, .not, .compare, .isTrue, .has: others.append(next)
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
