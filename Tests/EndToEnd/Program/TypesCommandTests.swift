import JSONDocument
import Support
import Testing

@Suite("concierge types")
struct TypesCommandTests {
    private static func service(_ place: Int) -> String { "sample-\(place)" }

    private static func files() -> [String: String] {
        let services = TypeSample.all.enumerated().map { place, sample in
            let file: JSONDocument = [
                "name": JSONDocument(service(place)), "schema": sample.schema, "default": sample.values[0],
            ]
            return ("services/\(place).json", "\(file)")
        }
        return Dictionary(uniqueKeysWithValues: services)
    }

    /// Runs lines in a shell, and expects that the last one prints this.
    private static func shell(_ lines: String, in folder: String, prints expected: String = "") async throws {
        let outputs = try await ShellCommand.outputs(of: ShellCommand.all(in: lines), in: folder, addresses: [:])
        #expect(outputs.last == expected, "\(outputs.last ?? "")")
    }

    private static let tsc =
        "tsc --strict --target ES2022 --module ES2022 --moduleResolution node --lib ES2022,DOM"

    private static let built = "\(ShippedFiles.directory)/.build/debug"
    private static let swiftc = "swiftc -swift-version 6 -warnings-as-errors -I '\(built)/Modules'"
    private static let linking = "'\(built)'/ConciergeClient.build/*.o"

    private static func types(_ language: String, _ arguments: [String]) async throws -> String {
        let run = try await ProgramProcess.run(["types", language] + arguments)
        #expect(run.status == 0, "\(run.complaints)")
        return run.output
    }

    // MARK: Schemas

    @Test("a value that a schema allows fits its type in TypeScript")
    func typeScriptValues() async throws {
        try await withFolder(Self.files()) { _, folder in
            let types = try await Self.types("ts", ["--services", "\(folder)/services", "--flows", folder])
            var use = "import type { Services } from \"./types.js\";\n"
            for (place, sample) in TypeSample.all.enumerated() {
                for value in sample.values {
                    // Older TypeScript takes this character for the end of a line.
                    let text = "\(value)".replacing("\u{2028}", with: "\\u2028")
                    use += "export const _\(use.utf8.count): Services[\"\(Self.service(place))\"] = \(text);\n"
                }
            }
            try ShippedFiles.write(types, to: "\(folder)/types.ts")
            try ShippedFiles.write(use, to: "\(folder)/use.ts")
            try await Self.shell("$ \(Self.tsc) --noEmit use.ts || :", in: folder)
        }
    }

    @Test("a value that a schema allows becomes its type in Swift, and that value again")
    func swiftValues() async throws {
        try await withFolder(Self.files()) { _, folder in
            let types = try await Self.types("swift", ["--services", "\(folder)/services", "--flows", folder])
            var main = """
                import ConciergeClient
                import Foundation

                func check<Document: Codable>(_ type: Document.Type, _ text: String) {
                    do {
                        let sent = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
                        let back = try JSONValue(encoding: try sent.decode(Document.self))
                        if back != sent { print("\\(type): \\(text) becomes \\(back)") }
                    } catch {
                        print("\\(type): \\(text): \\(error)")
                    }
                }

                """
            for (place, sample) in TypeSample.all.enumerated() {
                for value in sample.values {
                    main += "check(Services.Sample\(place).self, ##\"\(value)\"##)\n"
                }
            }
            try ShippedFiles.write(types, to: "\(folder)/types.swift")
            try ShippedFiles.write(main, to: "\(folder)/main.swift")
            try await Self.shell(
                "$ \(Self.swiftc) \(Self.linking) -o check main.swift types.swift 2>&1 && ./check || :", in: folder)
        }
    }

    @Test("members are in the author's order, and those that are in none behind them")
    func order() async throws {
        let flow = #"""
            {"id": "f", "version": 1, "initial": "a", "states": {"a": {"on": {"go": {"target": "a"}},
             "accepts": {"go": {"type": "object", "additionalProperties": false, "x-order": ["street", "city"],
               "properties": {"city": {"type": "string"}, "country": {"type": "string"}, "street": {"type": "string"}}}}}}}
            """#
        try await withFolder(["flows/f.json": flow]) { _, folder in
            let types = try await Self.types("ts", ["--flows", "\(folder)/flows", "--services", folder])
            let places = ["street?:", "city?:", "country?:"].map { types.firstRange(of: $0)?.lowerBound }
            #expect(
                !places.contains(nil) && places.compactMap(\.self) == places.compactMap(\.self).sorted(), "\(types)")
        }
    }

    @Test("what a type can say it says: names, choices, what may be left out, what is null")
    func precision() async throws {
        let schema = TypeSample.object(
            [
                ("size", ["enum": ["small", "extra-large"]]), ("paid_at", ["type": ["string", "null"]]),
                (
                    "items",
                    [
                        "type": "array",
                        "items": TypeSample.object([("count", ["type": "integer"])], required: ["count"]),
                    ]
                ),
            ], required: ["size", "paid_at"])
        let file =
            "\(["name": "meal-order", "schema": schema, "default": ["size": "small", "paid_at": nil]] as JSONDocument)"
        try await withFolder(["services/a.json": file]) { _, folder in
            let arguments = ["--services", "\(folder)/services", "--flows", folder]
            let typeScript = try await Self.types("ts", arguments)
            #expect(
                typeScript.contains(
                    """
                    export type MealOrder = {
                      items?: {
                        count: number;
                      }[];
                      paid_at: string | null;
                      size: "small" | "extra-large";
                    };
                    """), "\(typeScript)")
            #expect(typeScript.contains("  \"meal-order\": MealOrder;\n"))
            let swift = try await Self.types("swift", arguments)
            #expect(
                swift.contains(
                    """
                        struct MealOrder: Codable, Hashable, Sendable {
                            var items: [MealOrderItemsElement]?
                            var paidAt: String?
                            var size: MealOrderSize

                            enum CodingKeys: String, CodingKey {
                                case items
                                case paidAt = "paid_at"
                                case size
                            }

                    """), "\(swift)")
            #expect(
                swift.contains(
                    "    enum MealOrderSize: String, Codable, CaseIterable, Sendable {\n        case small\n"))
            #expect(try await Self.types("ts", arguments) == typeScript)
            #expect(try await Self.types("swift", arguments) == swift)
        }
    }

    // MARK: Flows and commands

    private static let flows = [
        "flows/trip.json": """
        {"id": "trip", "version": 1, "initial": "start", "owns": [], "input": {"type": "object", "required": ["to"],
         "additionalProperties": false, "properties": {"to": {"type": "string"}}},
         "on": {"cancel": {"target": "given-up"}}, "backend": ["cancel"],
         "states": {"start": {"accepts": {"go": {"type": "object", "required": ["by"], "properties": {"by": {"enum": ["train", "bus"]}}}},
                              "on": {"go": {"target": "on-the-way"}, "stay-here": {"target": "given-up"}}},
                    "on-the-way": {"type": "flow", "flow": "ride", "on": {"done": {"target": "there"}, "done.abandoned": {}}},
                    "there": {"type": "final", "outcome": "arrived"}, "given-up": {"type": "final"}}}
        """,
        "flows/ride.json": """
        {"id": "ride", "version": 1, "initial": "seat", "on": {"help": {}}, "states": {
            "seat": {"screen": "Seats", "accepts": {"go": {"type": "object", "required": ["seat"], "additionalProperties": false, "properties": {"seat": {"type": "integer"}}}},
                     "on": {"go": {"target": "z"}}}, "z": {"type": "final"}}}
        """,
    ]

    @Test("events, screens and outcomes are known to TypeScript, those of child flows among them")
    func typeScriptFlows() async throws {
        let use = """
            import { Session } from "./concierge.js";
            import type { Flows, Services } from "./types.js";
            export async function use() {
              const session = await Session.open<Services, Flows>();
              const journey = await session.start("trip", { input: { to: "Rome" }, at: "start" });
              await journey.send("go", { by: "train", class: 2 });
              await journey.send("go", { seat: 12 });
              await journey.send("stay-here");
              await journey.send("help");
              await journey.send("back");
              const place: "start" | "seat" | undefined = journey.view?.screen?.id;
              const end: "arrived" | "closed" | "given-up" | null | undefined = journey.view?.outcome;
              const drawn: "Seats" = null! as Flows["ride"]["screens"]["seat"]["name"];
              // @ts-expect-error: the event has another data
              await journey.send("go", { by: "plane" });
              // @ts-expect-error: the event has data
              await journey.send("go");
              // @ts-expect-error: of back ends
              await journey.send("cancel");
              // @ts-expect-error: the flow has an input
              await session.start("trip", { input: {} });
              // @ts-expect-error: no such flow
              await session.start("tripp");
              return [place, end, drawn];
            }
            """
        try await withFolder(Self.flows.merging(["use.ts": use, "concierge.js": ""]) { $1 }) { _, folder in
            try ShippedFiles.write(
                try await Self.types("ts", ["--flows", "\(folder)/flows"]), to: "\(folder)/types.ts")
            try ShippedFiles.write(
                try ShippedFiles.text("clients/js/concierge.d.ts"), to: "\(folder)/concierge.d.ts")
            try await Self.shell("$ \(Self.tsc) --noEmit use.ts || :", in: folder)
        }
    }

    @Test("events, screens and outcomes are known to Swift")
    func swiftFlows() async throws {
        let main = """
            import ConciergeClient
            for event: any JourneyEvent in [
                Flows.Trip.StartEvent.go(.init(by: .train)), Flows.Trip.StartEvent.stayHere,
                Flows.Ride.SeatEvent.go(.init(seat: 12)), Flows.Ride.FlowEvent.help,
            ] {
                let (name, data) = try event.event
                print(name, data?["by"]?.string ?? "-", data == nil)
            }
            print(Flows.Trip.id, Flows.Trip.Screen.allCases, Flows.Trip.Outcome.givenUp.rawValue, Flows.Trip.Input(to: "Rome").to)
            """
        try await withFolder(Self.flows.merging(["main.swift": main]) { $1 }) { _, folder in
            try ShippedFiles.write(
                try await Self.types("swift", ["--flows", "\(folder)/flows"]), to: "\(folder)/types.swift")
            try await Self.shell(
                "$ \(Self.swiftc) \(Self.linking) -o check main.swift types.swift 2>&1 && ./check || :", in: folder,
                prints: """
                    go train false
                    stay-here - true
                    go - false
                    help - true
                    trip [check.Flows.Trip.Screen.start] given-up Rome
                    """)
        }
    }

    @Test("versions of a flow are one type, with what any of them has")
    func versions() async throws {
        func file(_ version: Int, _ data: String, _ end: String) -> String {
            """
            {"id": "t", "version": \(version), "initial": "a", "states": {
              "a": {"accepts": {"go": {"type": "\(data)"}}, "on": {"go": {"target": "\(end)"}}}, "\(end)": {"type": "final"}}}
            """
        }
        try await withFolder(["flows/1.json": file(1, "string", "x"), "flows/2.json": file(2, "integer", "y")]) {
            _, folder in
            let typeScript = try await Self.types("ts", ["--flows", "\(folder)/flows"])
            #expect(typeScript.contains("go: number | string;"))
            #expect(typeScript.contains(#"outcome: "closed" | "x" | "y";"#))
            let swift = try await Self.types("swift", ["--flows", "\(folder)/flows"])
            #expect(swift.contains("case go(JSONValue)"))
        }
    }

    @Test("commands have types: those of a program with services in Swift")
    func commands() async throws {
        let use = """
            import { Session } from "./concierge.js";
            import type { Commands, Flows, Services } from "./types.js";
            export async function use() {
              const cart = (await Session.open<Services, Flows, Commands>()).service("cart");
              const total: number = await cart.call("add", { count: 1, id: "tea" });
              // @ts-expect-error: no such command
              await cart.call("ad", { count: 1, id: "tea" });
              // @ts-expect-error: the input lacks a member
              await cart.call("add", { count: 1 });
              return total;
            }
            """
        let program = "\(ShippedFiles.directory)/.build/debug/Shop"
        try await withFolder(["use.ts": use, "concierge.js": ""]) { _, folder in
            for (language, file) in [("ts", "types.ts"), ("swift", "types.swift")] {
                let run = try await ProgramProcess(command: [program, "types", language], environment: [:]).result()
                #expect(run.status == 0, "\(run.complaints)")
                try ShippedFiles.write(run.output, to: "\(folder)/\(file)")
            }
            try ShippedFiles.write(
                try ShippedFiles.text("clients/js/concierge.d.ts"), to: "\(folder)/concierge.d.ts")
            try await Self.shell("$ \(Self.tsc) --noEmit use.ts || :", in: folder)
            let main = """
                import ConciergeClient
                func add(to cart: Service<Services.Cart>) async throws -> Commands.Cart.AddOutput {
                    try await cart.call("add", with: Commands.Cart.AddInput(count: 1, id: "tea"))
                }
                """
            try ShippedFiles.write(main, to: "\(folder)/main.swift")
            try await Self.shell("$ \(Self.swiftc) -typecheck main.swift types.swift 2>&1 || :", in: folder)
        }
    }

    @Test("another language is refused by name, and files with an error are not described")
    func refusals() async throws {
        let other = try await ProgramProcess.run(["types", "go"])
        #expect(other.status == 2 && other.complaints.contains("types takes no argument \"go\""))
        let none = try await ProgramProcess.run(["types"])
        #expect(none.status == 2 && none.complaints.contains("types needs a language: ts, swift"))
        try await withFolder(["flows/a.json": "{}"]) { _, folder in
            let broken = try await ProgramProcess.run(["types", "ts", "--flows", "\(folder)/flows"])
            #expect(broken.status == 2 && broken.output.isEmpty)
        }
    }

    // MARK: The pages

    @Test("the shipped files have types, and the example of docs/web.md runs with them")
    func webPage() async throws {
        let blocks = try DocumentationPage("docs/web.md").blocks.filter { $0.heading == "Types of your files" }
        let example = try #require(blocks.first { $0.language == "ts" }).text
        try await withApplication(services: ShippedFiles.services(), flows: ShippedFiles.flows()) { app in
            let files = [
                "use.ts": "declare const process: any;\nconst server: string = process.argv[2];\n\(example)",
                "concierge.d.ts": try ShippedFiles.text("clients/js/concierge.d.ts"),
                "package.json": #"{"type":"module"}"#,
                "concierge.js": try ShippedFiles.text("clients/js/concierge.js"),
            ]
            try await withFolder(files) { _, folder in
                try ShippedFiles.write(try await Self.shipped("ts"), to: "\(folder)/types.ts")
                // Of what browsers have, this is behind flags in the Node.js of Debian 12.
                let node = "node --experimental-global-webcrypto --experimental-global-customevent"
                try await Self.shell(
                    "$ \(Self.tsc) use.ts && \(node) use.js http://127.0.0.1:\(app.publicPort) 2>&1 || :", in: folder,
                    prints: "page1 Grace")
            }
        }
    }

    @Test("the example of docs/swift-client.md runs with the types of the shipped files")
    func swiftPage() async throws {
        let blocks = try DocumentationPage("docs/swift-client.md").blocks.filter { $0.heading == "Types of your files" }
        let example = try #require(blocks.first { $0.language == "swift types" }).text
        try await withApplication(services: ShippedFiles.services(), flows: ShippedFiles.flows()) { app in
            let head = "import ConciergeClient\nimport Foundation\nlet url = URL(string: CommandLine.arguments[1])!\n"
            try await withFolder(["main.swift": head + example]) { _, folder in
                try ShippedFiles.write(try await Self.shipped("swift"), to: "\(folder)/types.swift")
                try await Self.shell(
                    "$ \(Self.swiftc) \(Self.linking) -o use main.swift types.swift 2>&1 && ./use http://127.0.0.1:\(app.publicPort) || :",
                    in: folder, prints: "page1 Grace")
            }
        }
    }

    private static func shipped(_ language: String) async throws -> String {
        let folder = "\(ShippedFiles.directory)/config"
        return try await types(language, ["--services", "\(folder)/services", "--flows", "\(folder)/flows"])
    }
}
