extension FlowGraph {
    /// The flow in the language of Graphviz.
    ///
    /// Drawn without a background, with shapes that bring their own and greys that can be read on light and on dark.
    public var graphviz: String {
        var lines = [
            "digraph \(Self.quoted([title])) {",
            "  graph [rankdir=TB, bgcolor=\"transparent\", pad=0.3, nodesep=0.5, ranksep=0.6]",
            "  node [\(Self.font), fontsize=12, fontcolor=\"#1f2933\", color=\"#5b7083\", penwidth=1.2, margin=\"0.2,0.1\"]",
            "  edge [\(Self.font), fontsize=10, fontcolor=\"#718096\", color=\"#718096\", arrowsize=0.7]",
        ]
        for node in nodes {
            lines.append("  \(node.key) [label=\(Self.quoted(node.lines)), \(Self.style(node.shape))]")
        }
        for arrow in arrows {
            // With blanks, since labels are set right beside their lines.
            let style = arrow.isQuiet ? ", style=dashed" : ""
            lines.append("  \(arrow.from) -> \(arrow.to) [label=\(Self.quoted(arrow.lines, padding: " "))\(style)]")
        }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    private static let font = "fontname=\"Helvetica,Arial,sans-serif\""

    private static func style(_ shape: GraphNode.Shape) -> String {
        switch shape {
        case .start: "shape=circle, style=filled, fillcolor=\"#5b7083\", width=0.18, fixedsize=true"
        case .screen: "shape=box, style=\"rounded,filled\", fillcolor=\"#eef4fb\""
        case .choice: "shape=diamond, style=filled, fillcolor=\"#fdf6e3\", margin=\"0.05,0.05\""
        case .flow: "shape=box, style=filled, peripheries=2, fillcolor=\"#eaf7ef\""
        case .final: "shape=oval, style=filled, peripheries=2, fillcolor=\"#f0edf6\""
        case .anywhere: "shape=box, style=\"rounded,filled,dashed\", fillcolor=\"#f7f7f7\""
        }
    }

    /// A quoted string of one or several lines. Backslashes would begin an escape there, ampersands an entity.
    private static func quoted(_ lines: [String], padding: String = "") -> String {
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
