import JSONDocument

/// Commands that actions call.
extension DataScope {
    /// Runs a command and makes its changes, as if actions had made them.
    ///
    /// - Returns: the output.
    func call(
        _ command: String, of service: String, with template: ValueTemplate?
    ) throws(JourneyRefusal) -> JSONDocument? {
        var input: JSONDocument?
        if let template { input = try value(of: template) }
        let called: CommandResult
        do {
            called = try services.call(command, of: service, with: input, seenBy: owners)
        } catch {
            throw .guardNotMet(
                error.violations.map { violation in
                    let tokens = JSONPointer(parsing: violation.pointer)?.tokens ?? []
                    let place = template.flatMap { origin(of: tokens[...], in: $0) }
                    return JSONViolation(
                        pointer: place ?? "/" + JSONPointer.escape(service), detail: violation.detail)
                })
        }
        for change in called.changes {
            switch change.effect {
            case .written(let document): write(document, to: change.service)
            case .cleared, .removed: try renew(change.service, change.effect)
            }
        }
        return called.output
    }

    /// The path of the data that a part of a value was made from; nil for a constant. A client finds there what it has
    /// sent.
    private func origin(of tokens: ArraySlice<String>, in template: ValueTemplate) -> String? {
        switch template {
        case .object(let members):
            guard let name = tokens.first else { return nil }
            return members.first { $0.name == name }.flatMap { origin(of: tokens.dropFirst(), in: $0.value) }
        case .array(let elements):
            guard let index = tokens.first.flatMap({ Int($0) }), elements.indices.contains(index) else { return nil }
            return origin(of: tokens.dropFirst(), in: elements[index])
        case .from(let path, _): return resolvedText(of: path) + JSONPointer(Array(tokens)).description
        case .literal, .call, .time, .either: return template.path.map(resolvedText)
        }
    }
}
