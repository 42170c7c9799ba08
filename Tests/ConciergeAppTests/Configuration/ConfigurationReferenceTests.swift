import Configuration
import Testing

@Suite("Shipped configuration")
struct ConfigurationReferenceTests {
    private let repository = FileReader(
        directory: #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
            .joined(separator: "/"))

    @Test("config/README.md holds the table of keys; `concierge config --reference` prints it")
    func readme() throws {
        let readme = String(decoding: try repository.read("config/README.md"), as: UTF8.self)
        for row in ConfigurationReference.markdown.split(separator: "\n") {
            #expect(readme.contains(row + "\n"), "config/README.md lacks: \(row)")
        }
        #expect(readme.contains("\n\n" + ConfigurationReference.markdown + "\n"))
    }

    @Test("config/concierge.json has known keys, and every default but a main flow; its services and flows are fine")
    func shippedFile() throws {
        let loaded = ConfigurationLoader(environment: [:], files: repository).load()
        #expect(loaded.problems == [])
        #expect(loaded.file == "config/concierge.json")
        var expected = Configuration()
        expected.services = "config/services"
        expected.flows = "config/flows"
        expected.mainFlow = "main"
        #expect(loaded.configuration == expected)
        #expect(loaded.services.map(\.name).contains("basket"))
        #expect(Set(loaded.flows.ids).isSuperset(of: ["wizard", "edit-quote", "main", "checkout", "money-transfer"]))
        // What differs from machine to machine stands there as a comment.
        let text = String(decoding: try repository.read("config/concierge.json"), as: UTF8.self)
        for match in text.matches(of: #/\/\/ "([a-z_]+)": /#) {
            #expect(ConfigurationKey.all.contains { $0.path.split(separator: ".").last == match.1 }, "\(match.1)")
        }
    }
}
