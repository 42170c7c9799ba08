import JSONDocument
import Navigation
import Testing

@Suite("Graphs")
struct FlowGraphTests {
    private func graph(_ document: JSONDocument, with others: JSONDocument...) throws -> FlowGraph {
        let catalog = try Traveller.catalog([document] + others)
        return FlowGraph(try #require(catalog.flow(document[member: "id"]?.string ?? "")))
    }

    @Test("the wizard in Mermaid")
    func mermaid() throws {
        #expect(
            try graph(Flows.wizard, with: Flows.editQuote).mermaid == """
                """)
    }

    @Test("the wizard for Graphviz")
    func graphviz() throws {
        #expect(
            try graph(Flows.wizard, with: Flows.editQuote).graphviz == """
                """)
    }
}
