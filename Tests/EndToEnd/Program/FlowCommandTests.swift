import Configuration
import JSONDocument
import Support
import Testing

@Suite("The program and flows")
struct FlowCommandTests {
    private static let files = ["flows/wizard.json": TestFlows.wizard, "flows/order.json": TestFlows.order]

    private static func flow(version: Int, screen: String) -> String {
        #"{"id":"tour","version":\#(version),"initial":"\#(screen)","states":{"\#(screen)":{"on":{"end":{"#
            + #""target":"z"}}},"z":{"type":"final"}}}"#
    }

    @Test("check looks at flows; serve does not start with one that has an error")
    func check() async throws {
        try await withFolder(Self.files) { _, folder in
            let check = try await ProgramProcess.run(["check", "--flows", "\(folder)/flows"])
            #expect(check.status == 0)
            #expect(check.output.contains("2 flow files: 0 errors"))
        }
        let broken = TestFlows.wizard.replacing("\"target\": \"page2\"", with: "\"target\": \"pgae2\"")
        try await withFolder(["flows/wizard.json": broken]) { _, folder in
            for command in ["check", "serve"] {
                let run = try await ProgramProcess.run([command, "--flows", "\(folder)/flows"])
                #expect(run.status == 2)
                let line = try #require(run.lines.first { $0.contains("/states/page1/on/next/target") })
                #expect(line.hasPrefix("\(folder)/flows/wizard.json:13:"))
                #expect(line.hasSuffix("; did you mean page2?"))
            }
        }
    }

    @Test("check --against says what other flows would do to the journeys of a running server")
    func against() async throws {
        let key = "0123456789abcdef"
        let flows = [Self.flow(version: 1, screen: "a")]
        let one = ["flows/t.json": Self.flow(version: 1, screen: "a"), "key": key]
        let two = ["flows/t.json": Self.flow(version: 2, screen: "b"), "key": key]
        try await withApplication(flows: flows, setting: \.admin.key, to: .init(key)) { app in
            let client = try await app.newSession().client
            #expect(try await client.send("PUT", Paths.main, json: #"{"flow":"tour"}"#).status == 201)
            let url = "http://127.0.0.1:\(app.adminPort)"
            try await withFolder(one) { _, folder in
                let arguments = ["check", "--flows", "\(folder)/flows", "--against", url]
                let same = try await ProgramProcess.run(arguments + ["--admin-key-file", "\(folder)/key"])
                #expect(same.status == 0)
                #expect(same.output.hasSuffix("1 journey running, 1 on screens that stay as they are\n"))
                let keyless = try await ProgramProcess.run(arguments)
                #expect(keyless.status == 1)
                #expect(keyless.complaints.contains("--admin-key-file"))
                let key = try await ProgramProcess.run(arguments, environment: ["CONCIERGE_ADMIN_KEY": key])
                #expect(key.status == 0)
            }
            try await withFolder(two) { _, folder in
                let arguments = ["check", "--flows", "\(folder)/flows", "--admin-key-file", "\(folder)/key"]
                let lost = try await ProgramProcess.run(arguments + ["--against", url + "/"])
                #expect(lost.status == 2)
                #expect(lost.output.contains("tour 1, a: 1 journey would be lost: "))
                let restart = ["--set", "orphaned_journeys=restart", "--against", url]
                #expect(try await ProgramProcess.run(arguments + restart).status == 0)
                for bad in ["127.0.0.1:1", "https://localhost:1", "http://127.0.0.1:1"] {
                    let nobody = try await ProgramProcess.run(arguments + ["--against", bad])
                    #expect(nobody.status == 1)
                    #expect(nobody.complaints.hasPrefix("concierge: "))
                }
            }
        }
    }

    /// A flow that writes its service `booking`.
    private static func stay(version: Int, owns: Bool, _ more: String = "") -> String {
        #"{"id":"stay","version":\#(version)\#(more),"owns":[\#(owns ? #""booking""# : "")],"initial":"a","states":{"a":{"on":{"#
            + #""take":{"actions":[{"op":"replace","path":"/booking/room","value":"12"}]},"end":{"target":"z"}}},"#
            + #""z":{"type":"final"}}}"#
    }

    @Test(
        "check --against finds journeys whose data lacks a member that a service requires now, and says what to write",
        arguments: [true, false])
    func unfitJourneys(owns: Bool) async throws {
        let schema: JSONDocument = ["type": "object", "required": ["room"], "additionalProperties": false]
        let room: JSONDocument = ["properties": ["room": ["type": "string"]]]
        let service = try ServiceFile(name: "booking", schema: schema.merging(room), default: ["room": ""])
        let stricter = """
            {"name": "booking", "default": {"room": "", "email": ""}, "schema": {
              "type": "object", "additionalProperties": false,
              "properties": {"room": {"type": "string"}, "email": {"type": "string"}},
              "required": ["room",
                "email"]}}
            """
        try await withApplication(services: [service], flows: [Self.stay(version: 1, owns: owns)]) { app in
            let client = try await app.newSession().client
            #expect(try await client.send("PUT", Paths.main, json: #"{"flow":"stay"}"#).status == 201)
            func check(_ flow: String, _ service: String) async throws -> ProgramProcess.Result {
                try await withFolder(["services/booking.json": service, "flows/stay.json": flow]) { _, folder in
                    try await ProgramProcess.run([
                        "check", "--flows", "\(folder)/flows", "--services", "\(folder)/services", "--against",
                        "http://127.0.0.1:\(app.adminPort)",
                    ])
                }
            }
            let flow = Self.stay(version: 1, owns: owns)
            // Nothing has been written: there is the new default.
            #expect(try await check(flow, stricter).status == 0)
            #expect(try await client.event("take", on: Paths.main).status == 200)
            let found = try await check(flow, stricter)
            #expect(found.status == 2)
            let line = try #require(found.lines.first { $0.contains("unfit_journeys") }, "\(found.complaints)")
            #expect(
                line.contains(
                    "services/booking.json:5:5: error: /schema/required/1 unfit_journeys: 1 journey of stay 1 "))
            #expect(line.contains(#""migrations": [{"from": 1, "patch": [{"op": "add", "path": "/booking/email""#))
            // That is what mends it; a patch that gives what does not fit is told of as before.
            for (value, status) in [(#""x""#, Int32(0)), ("7", 2)] {
                let patch =
                    #"{"op":"add","path":"/booking/email","value":{"$if":[{"is":"/booking/room"},"",\#(value)]}}"#
                let migration = #","in_flight":"migrate","migrations":[{"from":1,"patch":[\#(patch)]}]"#
                let mended = try await check(Self.stay(version: 2, owns: owns, migration), stricter)
                #expect(mended.status == status, "\(mended.output)\(mended.complaints)")
            }
        }
    }
}
