import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Flows that ship")
struct ShippedFlowTests {
    static let flows = [
        "application", "checkout", "edit-quote", "home", "login", "main", "money-transfer", "sign-in", "verification",
        "wizard",
    ]

    @Test("they have neither errors nor warnings")
    func clean() async throws {
        let (text, status) = await output(of: ["check"], files: ShippedFiles.repository)
        #expect(status == 0)
        #expect(text.hasSuffix(" flow files: 0 errors, 0 warnings\n"), "\(text)")
    }

    @Test("they are on offer, each with a description and a drawing")
    func listed() async throws {
        try await withSession(services: try ShippedFiles.services(), flows: try ShippedFiles.flows()) { client in
            let items = try await client.get("/v1/flows").items
            #expect(items.compactMap { $0[string: "id"] } == Self.flows)
            for item in items { #expect(item[string: "description"]?.isEmpty == false, "\(item)") }
            for flow in Self.flows {
                let graph = try await client.get("/v1/flows/\(flow)/graph")
                #expect(graph.status == 200)
                #expect(graph.text.hasPrefix("flowchart"))
            }
            // Nobody says by himself that an order is paid.
            #expect(try await client.patch(Paths.service("order"), #"{"payment":{"method":"card"}}"#).status == 405)
        }
    }

    @Test(
        "scripts take every transition, but for what needs another flow around",
        arguments: flows.filter { $0 != "home" })
    func paths(flow: String) async throws {
        let (text, status) = await output(of: ["paths", flow], files: ShippedFiles.repository)
        #expect(status == 0)
        let left = try JSONDocument(parsing: Array(text.utf8))[member: "uncovered"]?.elements ?? []
        #expect(left.compactMap { $0[string: "transition"] } == [])
    }
}
