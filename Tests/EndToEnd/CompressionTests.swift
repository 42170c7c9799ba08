import CDeflate
import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Compressed responses")
struct CompressionTests {
    private static let gzip = ("Accept-Encoding", "br, gzip;q=0.5")

    /// A session with a profile of as many bytes.
    private static func withProfile(
        ofBytes count: Int, _ body: (RunningApplication, TestClient) async throws -> Void
    ) async throws {
        try await withApplication { configuration in
            configuration.limits.bodyBytes = 1 << 20
            configuration.limits.documentBytes = 1 << 20
        } _: { app in
            let client = try await app.newSession().client
            let text = String(repeating: "Ada ", count: count / 4)
            let state = #"{"attributes":{"text":"\#(text)"}}"#
            #expect(try await client.patch(Paths.profile, state).status == 200)
            try await body(app, client)
        }
    }

    @Test("GET and HEAD, for those that accept it, with the same ETag", arguments: [2_000, 200_000])
    func compressed(count: Int) async throws {
        try await Self.withProfile(ofBytes: count) { _, client in
            let plain = try await client.get(Paths.profile)
            #expect(plain["Content-Encoding"] == nil && plain["Vary"] == "Accept-Encoding")
            let response = try await client.get(Paths.profile, fields: [Self.gzip])
            #expect(response["Content-Encoding"] == "gzip" && response["Vary"] == "Accept-Encoding")
            #expect(response["ETag"] == plain["ETag"] && response["Cache-Control"] == "no-store")
            #expect(response.body.count * 5 < plain.body.count)
            #expect(try decompressed(response.body, count: plain.body.count) == plain.body)
            let head = try await client.send("HEAD", Paths.profile, fields: [Self.gzip])
            #expect(head["Content-Encoding"] == "gzip")
            #expect(head["Content-Length"] == "\(response.body.count)")
        }
    }

    @Test("a 304 that caches may use has the fields of what it stands for", arguments: ["gzip", "identity"])
    func notModified(coding: String) async throws {
        try await withApplication(services: try ShippedFiles.services(), flows: try ShippedFiles.flows()) {
            $0.demo = true
        } _: { app in
            let client = app.client().with("Accept-Encoding", coding)
            for path in ["/openapi.json", "/v1/flows", "/v1/flows/wizard", "/demo", "/demo/concierge.js"] {
                let whole = try await client.get(path)
                let tag = try #require(whole["ETag"])
                let response = try await client.get(path, fields: [("If-None-Match", tag)])
                #expect(response.status == 304 && response.body.isEmpty)
                // The type is of what is sent. The others are of each response.
                let own = ["content-type", "date", "request-id"]
                func fields(_ response: TestResponse) -> [String: String] {
                    response.fields.reduce(into: [:]) { result, field in
                        let name = field.name.lowercased()
                        if !own.contains(name) { result[name, default: ""] += field.value + ";" }
                    }
                }
                #expect(fields(response) == fields(whole), "\(path)")
            }
        }
    }

    @Test("a 304 of a state names what the 200 varies with")
    func unmodifiedState() async throws {
        try await Self.withProfile(ofBytes: 2_000) { _, client in
            let tag = try #require(try await client.get(Paths.profile)["ETag"])
            let response = try await client.get(Paths.profile, fields: [Self.gzip, ("If-None-Match", tag)])
            #expect(response.status == 304 && response["ETag"] == tag && response["Vary"] == "Accept-Encoding")
            #expect(response["Cache-Control"] == "no-store" && response["Content-Encoding"] == nil)
        }
    }

    @Test("short ones, those to other methods, and errors stay as they are")
    func plain() async throws {
        try await Self.withProfile(ofBytes: 2_000) { app, client in
            let responses = [
                try await client.get(Paths.quote, fields: [Self.gzip]),
                try await client.patch(Paths.profile, #"{"email":"a@b.example"}"#, fields: [Self.gzip]),
                try await client.get("/nowhere", fields: [Self.gzip]),
                // It has a token.
                try await client.send(
                    "POST", Paths.sessions, json: #"{"labels":{"a":"\#(String(repeating: "x", count: 200))"}}"#,
                    fields: [Self.gzip]),
            ]
            for response in responses { #expect(response["Content-Encoding"] == nil) }
            #expect(try await app.admin().get("/metrics", fields: [Self.gzip])["Content-Encoding"] == "gzip")
        }
    }

    @Test(
        "only if gzip, or anything, is accepted",
        arguments: [
            ("gzip", true), ("GZIP ; q=0.001", true), ("deflate, *", true), ("x-gzip", true), ("identity", false),
            ("", false), ("gzip;q=0", false), ("*, gzip;q=0", false), ("gzip;q=none", false), ("br", false),
            ("gzip, deflate, br, zstd", true), ("gzip;q=0.000", false), ("gzip;q=nan", false),
        ])
    func codings(accepted: String, isCompressed: Bool) async throws {
        try await Self.withProfile(ofBytes: 2_000) { _, client in
            let response = try await client.get(Paths.profile, fields: [("Accept-Encoding", accepted)])
            #expect((response["Content-Encoding"] == "gzip") == isCompressed)
        }
    }

    private func decompressed(_ bytes: [UInt8], count: Int) throws -> [UInt8] {
        let decompressor = try #require(libdeflate_alloc_decompressor())
        defer { libdeflate_free_decompressor(decompressor) }
        var result = [UInt8](repeating: 0, count: count)
        var length = 0
        #expect(
            libdeflate_gzip_decompress(decompressor, bytes, bytes.count, &result, count, &length)
                == LIBDEFLATE_SUCCESS)
        return Array(result.prefix(length))
    }
}
