/// A flow as a drawing in text: which screens there are, and what leads from each to the others.
///
/// ```swift
/// let graph = FlowGraph(definition)
/// graph.mermaid   // text/vnd.mermaid
/// graph.graphviz  // text/vnd.graphviz, which the `dot` tool draws
/// ```
///
/// Both have the same content. What leads somewhere is an arrow, labelled as in a state chart: `event [guard]`, and
/// below it the verb, unless that is `push`, and the history policy. What does not (it stays, or where it goes depends
/// on the stack) is a line in its node. Events of the flow itself come from a node that stands for any screen.
public struct FlowGraph: Sendable {
    let title: String
    let nodes: [GraphNode]
    let arrows: [GraphArrow]

    /// The graph of one version of a flow.
    public init(_ definition: FlowDefinition) {
        var collector = GraphCollector(definition)
        collector.collect()
        title = "\(definition.id) \(definition.version)"
        nodes = collector.nodes
        arrows = collector.arrows
    }
}
