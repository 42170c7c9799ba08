import JSONDocument
import Sessions
import Testing

@Suite struct CatalogTests {
    @Test("built-in and declared services have their places in order")
    func places() throws {
        let catalog = try ServiceCatalog(declarations: SessionsFixture.declarations)
        #expect(
            catalog.services.map(\.name) == [
                "profile", "temporary-profile", "quote", "user", "coordinator", "counter", "cart", "notes", "mail",
            ])
        #expect(catalog.services.map(\.index) == Array(0..<9))
        #expect(catalog["temporary-profile"]?.kind == "profile")
        #expect(catalog["nothing"] == nil)
        #expect(throws: SessionError.notRegistered(service: "nothing")) { try catalog.service(named: "nothing") }
    }

    @Test("all problems of a catalogue are told at once")
    func problems() throws {
        let declarations = [
            ServiceDefinition(declared: "profile"),
            ServiceDefinition(declared: "a", schema: ["type": "no-such-type"]),
            ServiceDefinition(declared: "b", schema: ["required": ["x"]], default: .emptyObject),
        ]
        let error = #expect(throws: ServiceCatalogError.self) { try ServiceCatalog(declarations: declarations) }
        #expect(error?.problems.count == 3)
        for name in ["'profile'", "'a'", "'b'"] { #expect(error?.description.contains(name) == true) }
    }
}
