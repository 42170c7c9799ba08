extension FlowGraph {
    /// The flow as a Mermaid flowchart.
    ///
    /// A state diagram has no shape for a child flow and no escapes in labels, so it is a flowchart.
    public var mermaid: String {
        var lines = ["flowchart TB"]
        for node in nodes {
            let (left, right) = node.shape.look.brackets
            let heading = [node.title ?? "", node.id].filter { !$0.isEmpty }
            lines.append("  \(node.key)\(left)\(Self.mermaidLabel(heading + node.lines))\(right)")
        }
        for arrow in arrows {
            let line = arrow.isQuiet ? "-.->" : "-->"
            let label = arrow.lines.isEmpty ? "" : "|\(Self.mermaidLabel(arrow.lines))|"
            lines.append("  \(arrow.from) \(line)\(label) \(arrow.to)")
        }
        if !legend.isEmpty {
            lines.append("  legend[\(Self.mermaidLabel(legend.map { "\($0.rawValue) \($0.meaning)" }))]")
            lines.append("  style legend fill:#ffffff,stroke:#cbd2d9,color:#1f2933")
        }
        for shape in GraphNode.Shape.allCases {
            let keys = nodes.filter { $0.shape == shape }.map(\.key)
            guard !keys.isEmpty else { continue }
            lines.append("  classDef \(shape.rawValue)Node \(shape.mermaidStyle)")
            lines.append("  class \(keys.joined(separator: ",")) \(shape.rawValue)Node")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func mermaidLabel(_ lines: [String]) -> String {
        guard !lines.isEmpty else { return "\" \"" }
        return "\"\(lines.map { mermaidText(GraphText.fitting($0)) }.joined(separator: "<br/>"))\""
    }

    /// Text with Mermaid's entities (`#35;`) for all characters that may have a meaning.
    ///
    /// Labels are parsed as Mermaid, as Markdown and as HTML. Each gives a meaning to much of the punctuation, some
    /// only at the beginning of a line. So this lists the harmless characters.
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

extension GraphNode.Shape {
    /// The brackets of Mermaid, the color, and the attributes of Graphviz without it.
    fileprivate var look: (brackets: (String, String), fill: String, graphviz: String) {
        switch self {
        case .start: (("((", "))"), "#5b7083", "shape=circle, style=filled, width=0.18, fixedsize=true")
        case .screen: (("(", ")"), "#eef4fb", "shape=box, style=\"rounded,filled\"")
        case .choice: (("{", "}"), "#fdf6e3", "shape=diamond, style=filled, margin=\"0.05,0.05\"")
        case .flow: (("[[", "]]"), "#eaf7ef", "shape=box, style=filled, peripheries=2")
        case .task: (("[/", "/]"), "#fdeeee", "shape=parallelogram, style=filled, margin=\"0.05,0.1\"")
        case .final: (("([", "])"), "#f0edf6", "shape=oval, style=filled, peripheries=2")
        case .anywhere: (("(", ")"), "#f7f7f7", "shape=box, style=\"rounded,filled,dashed\"")
        }
    }

    fileprivate var mermaidStyle: String {
        "fill:\(look.fill),stroke:#5b7083" + (self == .start ? "" : ",color:#1f2933")
            + (self == .anywhere ? ",stroke-dasharray:4 3" : "")
    }

    fileprivate var graphvizStyle: String { "\(look.graphviz), fillcolor=\"\(look.fill)\"" }
}

extension FlowGraph {
    /// The flow in the language of Graphviz.
    ///
    /// The background is transparent. Text has a background of its own, and a contrast of at least 5:1 to it (WCAG 2.2,
    /// 1.4.3), so the drawing is readable on light and on dark.
    public var graphviz: String {
        var lines = [
            "digraph \(Self.quoted(title)) {",
            "  graph [rankdir=TB, bgcolor=\"transparent\", pad=0.3, nodesep=0.5, ranksep=0.6]",
            "  node [\(Self.graphvizFont), fontsize=12, fontcolor=\"#1f2933\", color=\"#5b7083\", penwidth=1.2, margin=\"0.2,0.1\"]",
            "  edge [\(Self.graphvizFont), fontsize=10, fontcolor=\"#1f2933\", color=\"#718096\", arrowsize=0.7]",
        ]
        for node in nodes {
            lines.append("  \(node.key) [label=\(Self.graphvizLabel(of: node)), \(node.shape.graphvizStyle)]")
        }
        for arrow in arrows {
            let label = arrow.lines.isEmpty ? [] : ["label=\(Self.graphvizBox(arrow.lines))"]
            let attributes = (label + (arrow.isQuiet ? ["style=dashed"] : [])).joined(separator: ", ")
            lines.append("  \(arrow.from) -> \(arrow.to)\(attributes.isEmpty ? "" : " [\(attributes)]")")
        }
        if !legend.isEmpty {
            let box = Self.graphvizBox(legend.map { "\($0.rawValue) \($0.meaning)" }, border: 1)
            lines.append("  legend [label=\(box), shape=plaintext, fontsize=10]")
        }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    private static let graphvizFont = "fontname=\"Helvetica,Arial,sans-serif\""

    /// The title, or else the id, in bold; then the id in small letters, and the details.
    private static func graphvizLabel(of node: GraphNode) -> String {
        guard !node.id.isEmpty else { return "\"\"" }
        var lines = ["<B>\(markup(node.title ?? node.id))</B>"]
        if node.title != nil { lines.append("<FONT POINT-SIZE=\"9\" COLOR=\"#52606d\">\(markup(node.id))</FONT>") }
        return "<\((lines + node.lines.map(markup)).joined(separator: "<BR/>"))>"
    }

    /// Lines on a white background.
    private static func graphvizBox(_ lines: [String], border: Int = 0) -> String {
        let text = lines.map { markup($0) + "<BR ALIGN=\"LEFT\"/>" }.joined()
        return "<<TABLE BORDER=\"\(border)\" CELLBORDER=\"0\" CELLPADDING=\"2\" CELLSPACING=\"0\" BGCOLOR=\"#ffffff\">"
            + "<TR><TD>\(text)</TD></TR></TABLE>>"
    }

    /// Text for labels in Graphviz's markup, which is read as XML.
    private static func markup(_ text: String) -> String {
        GraphText.fitting(text).unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            default: String(scalar)
            }
        }.joined()
    }

    /// A quoted string, as Graphviz reads it.
    private static func quoted(_ text: String) -> String {
        let escaped = GraphText.fitting(text).unicodeScalars.map { scalar in
            scalar == "\"" || scalar == "\\" ? "\\\(scalar)" : String(scalar)
        }
        return "\"\(escaped.joined())\""
    }
}
