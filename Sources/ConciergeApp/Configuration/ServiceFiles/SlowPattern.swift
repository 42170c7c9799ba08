import JSONDocument

/// Patterns that may take exponential time on a text that somebody makes for it: a repetition of a group that
/// repeats or chooses within, such as `(a+)+`. The regular expressions of the standard library try all ways.
///
/// It looks at the shape alone, so that harmless ones such as `([a-z]+-)*` are found, too: hence a warning.
enum SlowPattern {
    /// Where a schema has such patterns, as pointers into it.
    static func places(in schema: JSONDocument, at pointer: JSONPointer = .root) -> [JSONPointer] {
        if let elements = schema.elements {
            return elements.enumerated().flatMap { places(in: $1, at: pointer.appending("\($0)")) }
        }
        return (schema.members ?? []).flatMap { name, value -> [JSONPointer] in
            let place = pointer.appending(name)
            if name == "pattern", let text = value.string { return isSlow(text) ? [place] : [] }
            let names = name == "patternProperties" ? (value.members ?? []).map(\.name).filter(isSlow) : []
            return names.map { place.appending($0) } + places(in: value, at: place)
        }
    }

    static func isSlow(_ pattern: String) -> Bool {
        /// For each group that is open, whether something in it repeats or chooses.
        var groups: [Bool] = [false]
        var closed = false
        var isClass = false
        var characters = Array(pattern)[...]
        while let character = characters.popFirst() {
            let wasClosed = closed
            closed = false
            switch character {
            case "\\": characters = characters.dropFirst()
            case "]": isClass = false
            case _ where isClass: break
            case "[": isClass = true
            case "(": groups.append(false)
            case ")" where groups.count > 1:
                closed = groups.removeLast()
                // What is in a group is in the one around it.
                if closed { groups[groups.count - 1] = true }
            case "|": groups[groups.count - 1] = true
            case "*", "+", "{":
                if wasClosed { return true }
                groups[groups.count - 1] = true
            default: break
            }
        }
        return false
    }
}
