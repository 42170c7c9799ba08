extension FlowGraph {
    /// The flow as a Mermaid flowchart.
    ///
    /// A flowchart rather than a state diagram: those have no shape for a child flow, and no escapes in labels.
    public var mermaid: String {
        var lines = ["flowchart TB"]
        for node in nodes {
            let (left, right) = Self.brackets(node.shape)
            lines.append("  \(node.key)\(left)\(Self.quoted(node.lines))\(right)")
        }
        for arrow in arrows {
            let line = arrow.isQuiet ? "-.->" : "-->"
            let label = arrow.lines.isEmpty ? "" : "|\(Self.quoted(arrow.lines))|"
            lines.append("  \(arrow.from) \(line)\(label) \(arrow.to)")
        }
        for shape in GraphNode.Shape.allCases {
            let keys = nodes.filter { $0.shape == shape }.map(\.key)
            guard !keys.isEmpty else { continue }
            lines.append("  classDef \(shape.rawValue)Node \(Self.style(shape))")
            lines.append("  class \(keys.joined(separator: ",")) \(shape.rawValue)Node")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func brackets(_ shape: GraphNode.Shape) -> (String, String) {
        switch shape {
        case .start: ("((", "))")
        case .screen, .anywhere: ("(", ")")
        case .choice: ("{", "}")
        case .flow: ("[[", "]]")
        case .final: ("([", "])")
        }
    }

    private static func style(_ shape: GraphNode.Shape) -> String {
        switch shape {
        case .start: "fill:#5b7083,stroke:#5b7083"
        case .screen: "fill:#eef4fb,stroke:#5b7083,color:#1f2933"
        case .choice: "fill:#fdf6e3,stroke:#5b7083,color:#1f2933"
        case .flow: "fill:#eaf7ef,stroke:#5b7083,color:#1f2933"
        case .final: "fill:#f0edf6,stroke:#5b7083,color:#1f2933"
        case .anywhere: "fill:#f7f7f7,stroke:#5b7083,color:#1f2933,stroke-dasharray:4 3"
        }
    }

    private static func quoted(_ lines: [String]) -> String {
        guard !lines.isEmpty else { return "\" \"" }
        return "\"\(lines.map { escaped(GraphText.fitting($0)) }.joined(separator: "<br/>"))\""
    }

    /// Text with Mermaid's entities (`#35;`) for all but the harmless.
    ///
    /// Labels are read several times over, as Mermaid, as Markdown and as HTML, each with a meaning for much of the
    /// punctuation, also only at the beginning of a line. So what is left alone is listed, and not what is not.
    private static func escaped(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var escaped = ""
        for (place, scalar) in scalars.enumerated() {
            let isInside = place > 0 && place + 1 < scalars.count
            let isHarmless =
                switch scalar {
                case "a"..."z", "A"..."Z": true
                case "0"..."9", " ", ".", ",", "-", "/", "[", "]", "(", ")", "?", "=": place > 0
                case "_": isInside && isWord(scalars[place - 1]) && isWord(scalars[place + 1])
                default: !scalar.isASCII
                }
            if isHarmless {
                escaped.unicodeScalars.append(scalar)
            } else {
                escaped += "#\(scalar.value);"
            }
        }
        return escaped
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }
}
