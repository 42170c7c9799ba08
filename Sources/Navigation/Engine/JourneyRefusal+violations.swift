import JSONDocument

extension JourneyRefusal {
    /// What is wrong with which data, as far as that is the reason. Pointers begin with a service, `event` or `input`.
    public var violations: [JSONViolation] {
        switch self {
        case .guardNotMet(let violations), .serviceInvalid(_, let violations), .unreachable(_, let violations):
            violations
        case .eventDataInvalid(let violations): Self.within("/event", violations)
        case .inputInvalid(_, let violations): Self.within("/input", violations)
        case .actionFailed(let violation): [violation]
        case .eventNotAccepted, .unknownFlow, .unknownScreen, .finished, .expired, .due, .endless, .stackFull,
            .orphaned:
            []
        }
    }

    private static func within(_ root: String, _ violations: [JSONViolation]) -> [JSONViolation] {
        violations.map { JSONViolation(pointer: root + $0.pointer, detail: $0.detail) }
    }
}
