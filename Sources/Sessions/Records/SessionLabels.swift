import JSONDocument

/// The labels of a session: strings by name, in the order of the names.
package struct SessionLabels: Sendable, Equatable {
    package private(set) var items: [Label]

    package struct Label: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    package init(_ labels: [String: String] = [:]) {
        items = labels.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
            Label(name: $0.key, value: $0.value)
        }
    }

    private init(items: [Label]) {
        self.items = items
    }

    /// The labels of most sessions. Made without sorting.
    package static var none: Self { .init(items: []) }

    package var isEmpty: Bool { items.isEmpty }
    package var count: Int { items.count }

    package subscript(name: String) -> String? {
        items.first { $0.name.isExactly(name) }?.value
    }

    /// As a JSON object, in which form stores keep them.
    package var text: [UInt8] {
        JSONDocument(members: items.lazy.map { (name: $0.name, value: JSONDocument($0.value)) }).serialized()
    }

    /// Reads ``text``; `nil` for any other bytes.
    package init?(text: [UInt8]) {
        guard let members = (try? JSONDocument(parsing: text))?.members else { return nil }
        var labels: [String: String] = [:]
        for (name, value) in members {
            guard let value = value.string else { return nil }
            labels[name] = value
        }
        self.init(labels)
    }

    /// Adds or replaces a label; `nil` removes it.
    mutating func set(_ name: String, to value: String?) {
        items.removeAll { $0.name.isExactly(name) }
        guard let value else { return }
        let place = items.firstIndex { name.utf8.lexicographicallyPrecedes($0.name.utf8) } ?? items.endIndex
        items.insert(Label(name: name, value: value), at: place)
    }
}

extension SessionLabels {
    /// The labels after a merge patch: a string sets a label, null removes it; null for the whole removes all.
    ///
    /// - Throws: ``SessionError/invalid(_:)`` with every mistake; pointers begin with `/labels`.
    func merging(_ patch: JSONDocument, _ settings: SessionSettings) throws(SessionError) -> SessionLabels {
        if patch.isNull { return .none }
        guard let members = patch.members else {
            throw .invalid([JSONViolation(pointer: "/labels", detail: "Labels are an object of strings.")])
        }
        var result = self
        var errors: [JSONViolation] = []
        for (name, value) in members {
            let pointer = "/labels/" + JSONPointer.escape(name)
            if value.isNull {
                result.set(name, to: nil)
            } else if let problem = Self.problem(name, value, settings) {
                errors.append(JSONViolation(pointer: pointer, detail: problem))
            } else {
                result.set(name, to: value.string)
            }
        }
        if result.count > settings.maxLabels {
            errors.append(
                JSONViolation(pointer: "/labels", detail: "A session has at most \(settings.maxLabels) labels."))
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
