import JSONDocument

/// Refusals without what they say of services that no client may know of.
extension JourneyRefusal {
    /// - Parameter hidden: the names of the services.
    package func concealing(_ hidden: Set<String>) -> JourneyRefusal {
        func conceal(_ violations: [JSONViolation]) -> [JSONViolation] { violations.map { $0.concealing(hidden) } }
        return switch self {
        case .guardNotMet(let violations): .guardNotMet(conceal(violations))
        case .actionFailed(let violation): .actionFailed(violation.concealing(hidden))
        // Their pointers are within what was sent.
        case .eventDataInvalid(let violations): .eventDataInvalid(violations.map { $0.concealingDetail(hidden) })
        case .inputInvalid(let flow, let violations):
            .inputInvalid(flow: flow, violations.map { $0.concealingDetail(hidden) })
        case .outputInvalid(let outcome, let violations):
            .outputInvalid(outcome: outcome, violations.map { $0.concealingDetail(hidden) })
        case .unreachable(let screen, let violations): .unreachable(blockedBy: screen, conceal(violations))
        case .serviceInvalid(let service, _) where hidden.contains(service):
            .actionFailed(JSONViolation(pointer: "", detail: JSONViolation.concealed))
        default: self
        }
    }
}

extension JSONViolation {
    fileprivate static let concealed = "is refused by something that is not shown"

    var withoutDetail: JSONViolation { JSONViolation(pointer: pointer, detail: Self.concealed) }

    package func concealing(_ hidden: Set<String>) -> JSONViolation {
        if let root = JSONPointer(parsing: pointer)?.tokens.first, hidden.contains(root) {
            return JSONViolation(pointer: "", detail: Self.concealed)
        }
        return concealingDetail(hidden)
    }

    fileprivate func concealingDetail(_ hidden: Set<String>) -> JSONViolation {
        names(hidden) ? JSONViolation(pointer: pointer, detail: Self.concealed) : self
    }

    /// Whether the detail has a path of one of the services.
    private func names(_ services: Set<String>) -> Bool {
        services.contains { service in
            detail.ranges(of: "/" + service).contains { range in
                let next = detail[range.upperBound...].unicodeScalars.first
                return next.map { !$0.isOfName } ?? true
            }
        }
    }
}

extension Unicode.Scalar {
    /// Whether names of services have such characters.
    fileprivate var isOfName: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
        default: false
        }
    }
}
