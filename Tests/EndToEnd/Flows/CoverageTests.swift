import Configuration
import JSONDocument
import Support
import Testing

@Suite("What concierge paths covers")
struct CoverageTests {
    /// The files of a configuration with its services and flows, by their paths.
    private static func shipped() throws -> [String: String] {
        var files: [String: String] = [:]
        for folder in ["config", "config/services", "config/flows"] {
            for name in try ShippedFiles.repository.names(in: folder) where name.hasSuffix(".json") {
                files["\(folder)/\(name)"] = try ShippedFiles.text("\(folder)/\(name)")
            }
        }
        return files
    }

    /// The files that the page shows.
    private static func documented() throws -> [String: String] {
        let blocks = try DocumentationPage("docs/flows.md").blocks.filter { $0.language == "json" }
        return blocks.reduce(into: [:]) { files, block in
            guard let path = block.path, path.hasPrefix("config/"), !path.contains("/tests/") else { return }
            files[path] = block.text + "\n"
        }
    }

    @Test("nine in ten of the transitions of all flows that are shipped or shown, and every script holds")
    func figure() async throws {
        var all = 0
        var taken = 0
        for files in [try Self.shipped(), try Self.documented()] {
            let flows = files.filter { $0.key.hasPrefix("config/flows/") }.map(\.value)
            // Of several versions the highest is asked for.
            let ids = try Set(
                flows.map { try JSONDocument(parsing: Array($0.utf8), comments: true)[string: "id"] ?? "" })
            #expect(ids.count >= 10)
            for id in ids.sorted() {
                let (text, _) = try await withFolder(files) { folder, _ in
                    await output(of: ["paths", id], files: folder)
                }
                let coverage = try JSONDocument(parsing: text)
                let scripts = coverage[member: "scripts"]?.elements ?? []
                let takes = scripts.flatMap { $0[member: "takes"]?.elements ?? [] }
                let left = coverage[member: "uncovered"]?.elements ?? []
                for transition in left {
                    print("\(id): \(transition[string: "transition"] ?? ""): \(transition[string: "reason"] ?? "")")
                }
                taken += takes.count
                all += takes.count + left.count
                guard !scripts.isEmpty else { continue }
                let tested = files.merging(["config/flows/tests/\(id).json": text]) { $1 }
                let (report, status) = try await withFolder(tested) { folder, _ in
                    await output(of: ["test"], files: folder)
                }
                #expect(status == 0, "\(report)")
                // What a script says that it takes is taken.
                for place in takes { #expect(!report.contains("\(id): nothing took \(place.string ?? "")\n"), "\(id)") }
            }
        }
        print("concierge paths takes \(taken) of \(all) transitions")
        #expect(all >= 150)
        #expect(taken * 10 >= all * 9, "\(taken) of \(all)")
    }

    /// A flow of the kind that people write elsewhere, with what makes data hard to guess.
    private static let loan = """
        {"id": "loan", "version": 1, "initial": "apply", "owns": ["loan"],
         "guards": {"grown_up": {"compare": ["/loan/born", "<=", {"$time": {"from": {"$day": "/now"}, "plus": "-P18Y"}}]},
                    "vip": {"service": "user", "schema": {"properties": {"claims": {"required": ["vip"], "properties": {"vip": {"const": true}}}}}}},
         "states": {
          "apply": {
            "accepts": {"submit": {"type": "object", "required": ["born", "amount", "account", "items"], "additionalProperties": false, "properties": {
              "born": {"type": "string", "format": "date"}, "amount": {"type": "integer", "minimum": 1, "maximum": 1000000},
              "account": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{6,10}(-[a-c])?$"},
              "items": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["kind"], "properties": {
                "kind": {"enum": ["car", "house"]}, "price": {"type": "number"}}}}}}},
            "rules": {"submit": [{"guard": {"some": {"of": "/event/items", "where": {"compare": ["/item/kind", "==", "house"]}}}, "say": "A house, please."}]},
            "on": {"submit": {"target": "decide", "actions": [{"merge": "/loan", "value": {"born": {"$from": "/event/born"}, "amount": {"$from": "/event/amount"}, "items": {"$from": "/event/items"}}}]},
                   "express": {"guard": "vip", "target": "paid"}}},
          "decide": {"type": "choice", "branches": [
            {"guard": {"not": "grown_up"}, "target": "refused"},
            {"guard": {"compare": ["/loan/amount", ">", 54321]}, "target": "check"},
            {"target": "offer"}]},
          "check": {"type": "task", "task": "check", "timeout": "1d",
            "outcomes": {"scored": {"type": "object", "required": ["score"], "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 100}}}},
            "on": {"done.scored": [{"guard": {"compare": ["/output/score", ">=", 70]}, "target": "offer"}, {"target": "refused"}],
                   "done.failed": {"target": "apply", "nav": "pop_to"}, "done.timeout": {"target": "refused"}}},
          "offer": {"requires": ["grown_up"], "timers": [{"after": "3d", "target": "refused"}],
            "accepts": {"sign": {"type": "object", "required": ["name", "months"], "properties": {"name": {"type": "string", "minLength": 2}, "months": {"enum": [12, 24, 36]}}}},
            "on": {"sign": [{"guard": {"in": ["/event/months", [24, 36]]}, "target": "paid"}, {"target": "refused"}]}},
          "paid": {"type": "final"}, "refused": {"type": "final"}}}
        """
    private static let service = """
        {"name": "loan", "default": {"born": null, "amount": 0, "items": []}, "schema": {"type": "object", "properties": {
          "born": {"type": ["string", "null"], "format": "date"}, "amount": {"type": "integer"},
          "items": {"type": "array", "items": {"type": "object", "properties": {"kind": {"type": "string"}, "price": {"type": "number"}}}}}}}
        """

    @Test("data is found for guards, rules, patterns, lists, outputs of tasks, and users with claims")
    func hard() async throws {
        let files = [
            "config/concierge.json": "{}", "config/services/loan.json": Self.service,
            "config/flows/loan.json": Self.loan,
        ]
        let (text, _) = try await withFolder(files) { folder, _ in await output(of: ["paths", "loan"], files: folder) }
        let coverage = try JSONDocument(parsing: text)
        // A script ends a task with an outcome that it declares.
        let left = coverage[member: "uncovered"]?.elements ?? []
        #expect(left.map { $0[string: "transition"] } == ["/states/check/on/done.failed"])
        let (report, status) = try await withFolder(files.merging(["config/flows/tests/loan.json": text]) { $1 }) {
            folder, _ in await output(of: ["test"], files: folder)
        }
        #expect(status == 0 && report.contains("11 of 12 transitions taken"), "\(report)")
        let (curl, _) = try await withFolder(files) { folder, _ in
            await output(of: ["paths", "loan", "--curl"], files: folder)
        }
        #expect(
            curl.contains(#"AUTH="Authorization: Bearer $(curl -sf -X PUT "$ADMIN/v1/sessions/$ID/user""#), "\(curl)")
        #expect(curl.contains(#"'{"outcome":"scored","output":{"score":"#))
    }

    @Test("a session's services are given where a guard needs them, and child flows end as they are told to")
    func given() async throws {
        let files = [
            "config/concierge.json": "{}",
            "config/flows/a.json": """
            {"id": "a", "version": 1, "initial": "a", "guards": {"known": {"has": "/profile/email"}},
             "states": {"a": {"on": {"go": {"guard": "known", "target": "b"}, "ask": {"target": "c"}}},
               "b": {"requires": ["known"], "on": {"go": {"target": "z"}}},
               "c": {"type": "flow", "flow": "b", "on": {"done.yes": {"target": "z"}, "done.no": {"target": "a", "nav": "pop_to"}}},
               "z": {"type": "final"}}}
            """,
            "config/flows/b.json": """
            {"id": "b", "version": 1, "initial": "a", "states": {"a": {
               "accepts": {"go": {"type": "object", "required": ["x"], "properties": {"x": {"type": "string", "pattern": "^(?=.*7)[a-z0-9]{9}$", "not": {"pattern": "^a"}}}}},
               "on": {"go": {"target": "yes"}, "leave": {"target": "no"}}}, "yes": {"type": "final"}, "no": {"type": "final"}}}
            """,
        ]
        let (text, _) = try await withFolder(files) { folder, _ in await output(of: ["paths", "a"], files: folder) }
        let coverage = try JSONDocument(parsing: text)
        #expect(coverage[member: "uncovered"] == [], "\(text)")
        let given = (coverage[member: "scripts"]?.elements ?? []).compactMap { $0[member: "given"] }
        #expect(given.contains { $0[member: "services"]?[member: "profile"]?[member: "email"] != nil }, "\(text)")
        #expect(given.contains { $0[member: "children"]?[member: "b"]?[string: "outcome"] == "yes" }, "\(text)")
        let (report, status) = try await withFolder(files.merging(["config/flows/tests/a.json": text]) { $1 }) {
            folder, _ in await output(of: ["test"], files: folder)
        }
        #expect(status == 0, "\(report)")
        let (curl, _) = try await withFolder(files) { folder, _ in
            await output(of: ["paths", "a", "--curl"], files: folder)
        }
        #expect(curl.contains(#"curl -sf -X PUT "$ADMIN/v1/sessions/$ID/services/profile""#), "\(curl)")
    }
}
