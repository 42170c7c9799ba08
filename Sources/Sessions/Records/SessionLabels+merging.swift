import JSONDocument

extension SessionLabels {
    /// The labels after a merge patch: a string sets a label, null removes it; null for the whole removes all.
    ///
    /// - Throws: ``SessionError/invalid(_:)`` with every mistake; pointers begin with `/labels`.
    func merging(_ patch: JSONDocument, _ settings: SessionSettings) throws(SessionError) -> SessionLabels {
        if patch.isNull { return .none }
        guard let members = patch.members else {
            throw .invalid([InvalidInput(pointer: "/labels", detail: "Labels are an object of strings.")])
        }
        var result = self
        var errors: [InvalidInput] = []
        for (name, value) in members {
            let pointer = "/labels/" + JSONPointer.escape(name)
            if value.isNull {
                result.set(name, to: nil)
            } else if let problem = Self.problem(name, value, settings) {
                errors.append(InvalidInput(pointer: pointer, detail: problem))
            } else {
                result.set(name, to: value.string)
            }
        }
        if result.count > settings.maxLabels {
            errors.append(
                InvalidInput(pointer: "/labels", detail: "A session has at most \(settings.maxLabels) labels."))
        }
        guard errors.isEmpty else { throw .invalid(errors) }
        return result
    }

    private static func problem(_ name: String, _ value: JSONDocument, _ settings: SessionSettings) -> String? {
        guard (1...settings.maxLabelName).contains(name.utf8.count) else {
            return "The name of a label has 1 to \(settings.maxLabelName) bytes."
        }
        guard let text = value.string else { return "A label is a string." }
        guard text.utf8.count <= settings.maxLabelValue else {
            return "The value of a label has at most \(settings.maxLabelValue) bytes."
        }
        return nil
    }
}
