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
