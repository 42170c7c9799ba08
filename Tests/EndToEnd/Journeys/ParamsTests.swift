import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Params over HTTP")
struct ParamsTests {
    @Test("three products on one stack are three frames of one screen, and back shows the one before")
    func params() async throws {
        let shop = """
            {"id": "shop", "version": 1, "initial": "list",
             "on": {"look": {"target": "product", "params": {"id": {"$from": "/event/id"}}}},
             "states": {"list": {}, "product": {"title": "A product"}}}
            """
        try await withApplication(flows: [shop]) { app in
            let client = try await app.newSession().client
            let path = try await client.start("shop")
            #expect(try await client.get(path)[member: "screen"]?[member: "params"] == nil)
            for id in 1...3 {
                let shown = try await client.event("look", #"{"id":\#(id)}"#, on: path)
                #expect(shown[member: "screen"]?[member: "params"] == ["id": JSONDocument(id)])
            }
            #expect(try await client.get(path).stack == ["list", "product", "product", "product"])
            let back = try await client.event("back", on: path)
            #expect(back[member: "screen"]?[member: "params"] == ["id": 2])
            #expect(try await client.event("look", on: path).status == 409, "without the value there is no screen")
        }
    }
}
