extension String {
    /// As a JSON string that also cannot break a line or control a terminal.
    package var inJSON: String {
        var written = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": written += "\\\""
            case "\\": written += "\\\\"
            case "\n": written += "\\n"
            case "\t": written += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let digits = Self(scalar.value, radix: 16)
                written += "\\u" + Self(repeating: "0", count: 4 - digits.count) + digits
            default: written.unicodeScalars.append(scalar)
            }
        }
        return written + "\""
    }

    /// Quoted for a sentence, and not longer than a line.
    package var quoted: String { (count <= 60 ? self : prefix(59) + "…").inJSON }
}
