extension FlowGraph {
    /// The flow as a Mermaid flowchart.
    ///
    /// A state diagram has no shape for a child flow and no escapes in labels, so it is a flowchart.
    public var mermaid: String {
        var lines = ["flowchart TB"]
        for node in nodes {
            let (left, right) = Self.mermaidBrackets(node.shape)
            lines.append("  \(node.key)\(left)\(Self.mermaidLabel(node.lines))\(right)")
        }
        for arrow in arrows {
            let line = arrow.isQuiet ? "-.->" : "-->"
            let label = arrow.lines.isEmpty ? "" : "|\(Self.mermaidLabel(arrow.lines))|"
            lines.append("  \(arrow.from) \(line)\(label) \(arrow.to)")
        }
        for shape in GraphNode.Shape.allCases {
            let keys = nodes.filter { $0.shape == shape }.map(\.key)
            guard !keys.isEmpty else { continue }
            lines.append("  classDef \(shape.rawValue)Node \(Self.mermaidStyle(shape))")
            lines.append("  class \(keys.joined(separator: ",")) \(shape.rawValue)Node")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func mermaidBrackets(_ shape: GraphNode.Shape) -> (String, String) {
        switch shape {
        case .start: ("((", "))")
        case .screen, .anywhere: ("(", ")")
        case .choice: ("{", "}")
        case .flow: ("[[", "]]")
        case .task: ("[/", "/]")
        case .final: ("([", "])")
        }
    }

    private static func mermaidStyle(_ shape: GraphNode.Shape) -> String {
        switch shape {
        case .start: "fill:#5b7083,stroke:#5b7083"
        case .screen: "fill:#eef4fb,stroke:#5b7083,color:#1f2933"
        case .choice: "fill:#fdf6e3,stroke:#5b7083,color:#1f2933"
        case .flow: "fill:#eaf7ef,stroke:#5b7083,color:#1f2933"
        case .task: "fill:#fdeeee,stroke:#5b7083,color:#1f2933"
        case .final: "fill:#f0edf6,stroke:#5b7083,color:#1f2933"
        case .anywhere: "fill:#f7f7f7,stroke:#5b7083,color:#1f2933,stroke-dasharray:4 3"
        }
    }

    private static func mermaidLabel(_ lines: [String]) -> String {
        guard !lines.isEmpty else { return "\" \"" }
        return "\"\(lines.map { mermaidText(GraphText.fitting($0)) }.joined(separator: "<br/>"))\""
    }

    /// Text with Mermaid's entities (`#35;`) for all characters that may have a meaning.
    ///
    /// Labels are parsed as Mermaid, as Markdown and as HTML. Each gives a meaning to much of the punctuation, some only at
    /// the beginning of a line. So this lists the harmless characters.
    private static func mermaidText(_ text: String) -> String {
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

extension FlowGraph {
    /// The flow in the language of Graphviz.
    ///
    /// The background is transparent; the colours of shapes and text are readable on light and on dark.
    public var graphviz: String {
        var lines = [
            "digraph \(Self.graphvizLabel([title])) {",
            "  graph [rankdir=TB, bgcolor=\"transparent\", pad=0.3, nodesep=0.5, ranksep=0.6]",
            "  node [\(Self.graphvizFont), fontsize=12, fontcolor=\"#1f2933\", color=\"#5b7083\", penwidth=1.2, margin=\"0.2,0.1\"]",
            "  edge [\(Self.graphvizFont), fontsize=10, fontcolor=\"#718096\", color=\"#718096\", arrowsize=0.7]",
        ]
        for node in nodes {
            lines.append("  \(node.key) [label=\(Self.graphvizLabel(node.lines)), \(Self.graphvizStyle(node.shape))]")
        }
        for arrow in arrows {
            // With spaces, because Graphviz puts labels right beside the lines.
            let style = arrow.isQuiet ? ", style=dashed" : ""
            let label = Self.graphvizLabel(arrow.lines, padding: " ")
            lines.append("  \(arrow.from) -> \(arrow.to) [label=\(label)\(style)]")
        }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    private static let graphvizFont = "fontname=\"Helvetica,Arial,sans-serif\""

    private static func graphvizStyle(_ shape: GraphNode.Shape) -> String {
        switch shape {
        case .start: "shape=circle, style=filled, fillcolor=\"#5b7083\", width=0.18, fixedsize=true"
        case .screen: "shape=box, style=\"rounded,filled\", fillcolor=\"#eef4fb\""
        case .choice: "shape=diamond, style=filled, fillcolor=\"#fdf6e3\", margin=\"0.05,0.05\""
        case .flow: "shape=box, style=filled, peripheries=2, fillcolor=\"#eaf7ef\""
        case .task: "shape=parallelogram, style=filled, fillcolor=\"#fdeeee\", margin=\"0.05,0.1\""
        case .final: "shape=oval, style=filled, peripheries=2, fillcolor=\"#f0edf6\""
        case .anywhere: "shape=box, style=\"rounded,filled,dashed\", fillcolor=\"#f7f7f7\""
        }
    }

    /// A quoted string of one or several lines, with quotes, backslashes and ampersands escaped.
    private static func graphvizLabel(_ lines: [String], padding: String = "") -> String {
        let escaped = lines.map { line in
            padding
                + GraphText.fitting(line).unicodeScalars.map { scalar in
                    switch scalar {
                    case "\"": "\\\""
                    case "\\": "\\\\"
                    case "&": "&amp;"
                    default: String(scalar)
                    }
                }.joined() + padding
        }
        return "\"\(escaped.joined(separator: "\\n"))\""
    }
}
