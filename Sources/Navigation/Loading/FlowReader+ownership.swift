import JSONDocument

extension FlowReader {
    private enum Concurrency: String, CaseIterable {
        case lastWrite = "last_write"
        case firstWrite = "first_write"
    }

    private enum Binding: String, CaseIterable {
        case user, session
    }

    /// Reads `owns`, `concurrency` and `bound_to`.
    mutating func readOwnership(_ document: JSONDocument) -> FlowOwnership {
        var ownership = FlowOwnership()
        for (index, element) in (elements("owns", in: document, at: .root) ?? []).enumerated() {
            let place = JSONPointer(["owns", String(index)])
            guard let name = element.string else {
                report(place, .wrongType, "a service is named by a string, not by \(element.kind.phrase)")
                continue
            }
            guard checkService(name, at: place, isWritten: true) else { continue }
            if ownership.services.contains(name) {
                report(place, .badValue, "\(name) occurs twice")
            } else {
                ownership.services.append(name)
            }
        }
        ownership.isFirstWrite = choice("concurrency", in: document, at: .root, Concurrency.self) == .firstWrite
        ownership.isBoundToSession = choice("bound_to", in: document, at: .root, Binding.self) == .session
        return ownership
    }
}
