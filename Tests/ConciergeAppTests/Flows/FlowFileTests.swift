import Support
import Testing

@Suite("Flow files")
struct FlowFileTests {
    private static let good =
        #"{"id":"a","version":1,"initial":"s","states":{"s":{"on":{"x":{"target":"z"}}},"#
        + #""z":{"type":"final"}}}"#

    @Test("are read from flows beside the configuration, if it is there, in the order of their names")
    func beside() async throws {
        let loaded = try await load(
            [
                "c/c.json": "{}", "c/flows/b.json": Self.good, "c/flows/.hidden.json": "{", "c/flows/a.txt": "{",
                "c/flows/a.json": Self.good.replacing(#""id":"a""#, with: #""id":"b""#),
            ], file: "c/c.json")
        #expect(loaded.problems == [])
        #expect(loaded.configuration.flows == "c/flows")
        #expect(loaded.flows.ids == ["a", "b"])
        #expect(loaded.flowFileCount == 2)
        #expect(try await load(["flows/a.json": Self.good]).flows.ids == [], "nobody named a configuration file")
        #expect(try await load(["f/a.json": Self.good], set: ["flows": "f"]).flows.ids == ["a"])
    }

    @Test("all problems of all files are found at once, each with line, column, pointer and a guess")
    func problems() async throws {
        let broken = "{\"id\": \"a\",\n \"version\": 1"
        let misspelt = """
            {"id": "b", "version": 1, "initial": "start", "states": {
              "start": {"on": {"x": {"target": "end"}},
                        "data": ["profil"]},
              "ende": {"type": "final"}}}
            """
        let loaded = try await load(["flows/a.json": broken, "flows/b.json": misspelt], set: ["flows": "flows"])
        #expect(loaded.hasErrors)
        #expect(loaded.flows.ids == [])
        let lines = loaded.problems.map(\.description)
        #expect(lines.first?.hasPrefix("flows/a.json:2:") == true)
        #expect(lines.first?.contains("error: not_json: ") == true)
        let target = try #require(lines.first { $0.contains("/states/start/on/x/target") })
        #expect(target.hasPrefix("flows/b.json:2:26: error: "))
        #expect(target.hasSuffix("; did you mean ende?"))
        let data = try #require(lines.first { $0.contains("/states/start/data/0") })
        #expect(data.hasPrefix("flows/b.json:3:22: error: "))
        #expect(data.hasSuffix("; did you mean profile?"))
    }

    @Test("a service whose file has a mistake is still one: the flow is not to blame")
    func brokenService() async throws {
        let flow = Self.good.replacing(#""s":{"#, with: #""s":{"data":["basket"],"#)
        let loaded = try await load(
            ["services/basket.json": #"{"name": "basket"}"#, "flows/a.json": flow],
            set: ["services": "services", "flows": "flows"])
        #expect(loaded.problems.map(\.code).allSatisfy { $0 == "missing_key" })
        #expect(!loaded.problems.isEmpty)
    }

    @Test("a directory that is not there, and a main_flow that is none, are problems of the configuration")
    func configuration() async throws {
        let missing = try await load(["c.json": #"{"flows": "nowhere"}"#], file: "c.json")
        #expect(
            missing.problems.map(\.description).map { $0.hasPrefix("c.json:1:2: error: /flows missing_file") } == [true]
        )
        let unknown = try await load(
            ["c.json": #"{"main_flow": "aa"}"#, "flows/a.json": Self.good], file: "c.json")
        #expect(
            unknown.problems.map(\.description) == [
                #"c.json:1:2: error: /main_flow unknown_flow: main_flow is "aa", and no flow of that id is loaded; did you mean a?"#
            ])
    }

    @Test(
        "flows beside the file are about the services beside it, and so is its main_flow: a flag that names others wins"
    )
    func others() async throws {
        let service = #"{"name":"cup","default":{},"schema":{"type":"object","maxProperties":9}}"#
        let files = [
            "config/concierge.json": #"{"main_flow":"cafe"}"#,
            "config/services/cup.json": service,
            "config/flows/cafe.json": Self.good.replacing(#""id":"a""#, with: #""id":"cafe""#)
                .replacing(#""s":{"#, with: #""s":{"data":["cup"],"#),
            "flows/a.json": Self.good,
            "services/mug.json": service.replacing("cup", with: "mug"),
        ]
        let own = try await load(files)
        #expect(own.problems == [])
        #expect(own.configuration.mainFlow == "cafe")
        for (flag, ids) in [("flows", ["a"]), ("services", [])] {
            let others = try await load(files, set: [flag: flag])
            #expect(others.flows.ids == ids)
            #expect(others.configuration.mainFlow == nil)
            #expect(others.problems == [])
        }
        let misspelt = try await load(
            files.merging(["flows/a.json": Self.good.replacing(#""id":"a""#, with: #""id":"cafes""#)]) { $1 },
            set: ["flows": "flows"])
        #expect(
            misspelt.problems.map(\.description).map { $0.contains(" warning: /main_flow without_effect: ") } == [true])
        let named = try await load(files, set: ["flows": "flows", "main_flow": "cafe"])
        #expect(named.problems.map(\.code) == ["unknown_flow"], "who names both means both")
        #expect(try await load(files, set: ["services": "services", "flows": "config/flows"]).hasErrors)
    }
}
