extension String {
    /// A sentence as a part of a longer line: it begins in lower case and has no full stop.
    package var asClause: String {
        var text = self[...]
        if text.hasSuffix(".") { text.removeLast() }
        // An acronym such as JSON stays as it is.
        guard let first = text.first, text.dropFirst().first?.isUppercase != true else { return String(text) }
        return first.lowercased() + text.dropFirst()
    }
}
