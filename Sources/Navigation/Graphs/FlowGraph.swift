/// A drawing of a flow as text: its states, and the transitions between them.
///
/// ```swift
/// let graph = FlowGraph(definition)
/// graph.mermaid   // text/vnd.mermaid
/// graph.graphviz  // text/vnd.graphviz, which the `dot` tool draws
/// ```
///
/// Both have the same content. A transition with a target is an arrow, labelled as in a state chart: `event [guard]`, and
/// below it the verb, unless it is `push`, and the history policy. A transition without a target, which stays or goes
/// back, is a line in its node. The events of the flow start at a node that stands for any screen.
public struct FlowGraph: Sendable {
    let title: String
    let nodes: [GraphNode]
    let arrows: [GraphArrow]

    /// Collects the nodes and edges of the drawing.
    ///
    /// - Parameter showsGuards: whether the conditions are in it.
    public init(_ definition: FlowDefinition, showsGuards: Bool = true) {
        var collector = GraphCollector(definition, showsGuards: showsGuards)
        collector.collect()
        title = "\(definition.id) \(definition.version)"
        nodes = collector.nodes
        arrows = collector.arrows
    }
}

/// A shape in the drawing.
struct GraphNode: Sendable, Equatable {
    /// The name for arrows: letters and digits only.
    let key: String
    let shape: Shape
    /// The id of the state, then its details.
    var lines: [String]

    enum Shape: String, Sendable, CaseIterable {
        case start, screen, choice, flow, final
        /// Stands for every screen of the flow and of its children.
        case anywhere
    }
}

/// An arrow from one node to another.
struct GraphArrow: Sendable, Equatable {
    let from: String
    let to: String
    let lines: [String]
    /// Whether it needs no event of the flow: going back, a timeout.
    let isQuiet: Bool
}

/// Collects the nodes and arrows of a definition.
struct GraphCollector {
    private(set) var nodes: [GraphNode] = []
    private(set) var arrows: [GraphArrow] = []
    private let definition: FlowDefinition
    private let text: GraphText
    private let showsGuards: Bool

    init(_ definition: FlowDefinition, showsGuards: Bool = true) {
        self.definition = definition
        self.showsGuards = showsGuards
        text = GraphText(definition)
    }

    /// `[guard]`; nil where there is none to be shown.
    private func condition(_ guardian: Guard?) -> String? { showsGuards ? guardian.map { "[\(text.of($0))]" } : nil }

    mutating func collect() {
        nodes.append(GraphNode(key: "start", shape: .start, lines: []))
        arrows.append(GraphArrow(from: "start", to: Self.key(definition.initial), lines: [], isQuiet: false))
        for (place, state) in definition.states.enumerated() {
            collect(state, at: place)
        }
        if !definition.events.isEmpty {
            nodes.append(GraphNode(key: "any", shape: .anywhere, lines: ["any screen"]))
            collect(definition.events, from: "any")
        }
    }

    private mutating func collect(_ state: FlowState, at place: Int) {
        let key = Self.key(place)
        var node = GraphNode(key: key, shape: .screen, lines: [state.id])
        switch state.kind {
        case .screen(let screen):
            node.lines += screen.title.map { ["“\($0)”"] } ?? []
            node.lines += screen.requires.isEmpty || !showsGuards ? [] : ["needs " + text.list(screen.requires)]
            node.lines += screen.back == .forbidden ? ["no way back"] : []
            nodes.append(node)
            collect(screen.events, from: key)
            if case .target(let target) = screen.back {
                arrows.append(GraphArrow(from: key, to: Self.key(target), lines: ["back"], isQuiet: true))
            }
            if let timeout = screen.timeout {
                let after = "after " + GraphText.duration(timeout.after)
                if let transition = timeout.transition {
                    draw(transition, of: after, from: key, isQuiet: true)
                } else {
                    nodes[nodes.count - 1].lines.append("expires " + after)
                }
            }
        case .choice(let branches):
            nodes.append(GraphNode(key: key, shape: .choice, lines: node.lines))
            for branch in branches {
                guard let target = branch.target else { continue }
                let label = condition(branch.guard) ?? (branches.count > 1 && showsGuards ? "else" : "")
                let lines = [label, branch.nav.map(\.rawValue) ?? ""].filter { !$0.isEmpty }
                arrows.append(GraphArrow(from: key, to: Self.key(target), lines: lines, isQuiet: false))
            }
        case .flow(let child):
            let version = child.version.map { " \($0)" } ?? ""
            nodes.append(GraphNode(key: key, shape: .flow, lines: node.lines + ["flow \(child.flow)\(version)"]))
            for end in child.ends {
                for transition in end.transitions {
                    draw(transition, of: end.outcome.map { "done.\($0)" } ?? "done", from: key)
                }
            }
        case .final(let ending):
            let outcome = ending.outcome == state.id ? [] : ["outcome \(ending.outcome)"]
            nodes.append(GraphNode(key: key, shape: .final, lines: node.lines + outcome))
        }
    }

    private mutating func collect(_ rules: [EventRule], from key: String) {
        for rule in rules {
            for transition in rule.transitions {
                draw(transition, of: rule.event, from: key)
            }
        }
    }

    /// Adds an arrow from the last node, or a line to it.
    private mutating func draw(_ transition: Transition, of event: String, from key: String, isQuiet: Bool = false) {
        let label = event + (condition(transition.guard).map { " \($0)" } ?? "")
        let history = transition.history == .preserve ? nil : transition.history.rawValue
        if let target = transition.target {
            let verb = transition.nav == .push ? nil : transition.nav?.rawValue
            let how = [verb, history].compactMap(\.self).joined(separator: ", ")
            arrows.append(
                GraphArrow(
                    from: key, to: Self.key(target), lines: how.isEmpty ? [label] : [label, how], isQuiet: isQuiet))
        } else {
            let how = [transition.nav?.rawValue ?? "stays", history].compactMap(\.self).joined(separator: ", ")
            nodes[nodes.count - 1].lines.append("\(label) – \(how)")
        }
    }

    private static func key(_ place: Int) -> String { "s\(place)" }
}
