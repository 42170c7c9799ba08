import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Pages of other origins")
struct CrossOriginTests {
    private static let origin = "https://app.example.org"
    private static let preflight = [("Origin", origin), ("Access-Control-Request-Method", "PATCH")]

    private func withOrigins(_ body: (RunningApplication) async throws -> Void) async throws {
        try await withApplication(flows: [TestFlows.wizard]) { configuration in
            configuration.cors.allowedOrigins = ["http://localhost:3000", Self.origin]
            configuration.mainFlow = "wizard"
            configuration.limits.bodyBytes = 100
        } _: {
            try await body($0)
        }
    }

    private static func isAllowed(_ response: TestResponse) -> Bool {
        response.values("Access-Control-Allow-Origin") == [origin]
            && response.values("Access-Control-Allow-Credentials") == ["true"]
            && response.values("Vary").contains { $0.contains("Origin") }
    }

    private static func isOpen(_ response: TestResponse) -> Bool {
        response.fields.contains { $0.name.lowercased().hasPrefix("access-control-") }
    }

    @Test("may read every response, errors included, if their origin is allowed")
    func responses() async throws {
        try await withOrigins { app in
            let (client, _, token) = try await app.newSession()
            let page = client.with("Origin", Self.origin)
            let long = String(repeating: "x", count: 200)
            let cases: [(status: Int, response: TestResponse)] = [
                (200, try await page.get(Paths.profile)),
                (200, try await page.get("/version")),
                (304, try await page.get(Paths.profile, fields: [("If-None-Match", "\"0\"")])),
                (201, try await app.client().with("Origin", Self.origin).send("POST", Paths.sessions)),
                (204, try await page.send("DELETE", Paths.profile)),
                (400, try await page.send("PUT", Paths.profile, json: "{")),
                (400, try await page.get("/version", fields: [("A b", "c")])),
                (401, try await app.client().with("Origin", Self.origin).get(Paths.profile)),
                (404, try await page.get("/nowhere")),
                (405, try await page.send("PUT", Paths.current, json: "{}")),
                (412, try await page.patch(Paths.profile, "{}", fields: [("If-Match", "\"9\"")])),
                (413, try await page.patch(Paths.profile, #"{"name":"\#(long)"}"#)),
                (414, try await page.get("/version?" + String(repeating: "x", count: 3_000))),
                (431, try await page.get("/version", fields: [("A", String(repeating: "x", count: 17_000))])),
                (431, try await page.get("/version", fields: [("Cookie", String(repeating: "a=b; ", count: 300))])),
                (431, try await page.get("/version", fields: (1...120).map { ("A\($0)", "b") })),
                (
                    431,
                    try await page.get("/version", fields: [("A", "b"), ("Z", String(repeating: "x", count: 99_000))])
                ),
                (410, try await page.get(Paths.events, fields: [("Last-Event-ID", "9")])),
            ]
            for (status, response) in cases {
                #expect(response.status == status)
                // A head that is malformed is not looked at.
                if status == 400, response.code == "malformed_request" { continue }
                #expect(Self.isAllowed(response), "\(status) \(response.fields)")
                let exposed = response["Access-Control-Expose-Headers"]?.split(separator: ", ") ?? []
                #expect(
                    Set(["ETag", "Location", "Request-Id", "Retry-After", "Preference-Applied"]).isSubset(of: exposed))
            }
            let stream = try await EventReader.open(app.client().with(token: token).with("Origin", Self.origin))
            #expect(Self.isAllowed(stream.head))
        }
    }

    @Test(
        "get no permission if their origin is another one, is missing, or is there twice; the response varies all the same"
    )
    func refused() async throws {
        try await withOrigins { app in
            let client = try await app.newSession().client
            for origin in [
                "https://evil.example.org", "http://app.example.org", "https://app.example.org:444", "null",
                "https://APP.example.org", "*",
            ] {
                let page = client.with("Origin", origin)
                for response in [
                    try await page.get(Paths.profile), try await page.get("/nowhere"),
                    try await page.send("OPTIONS", Paths.profile, fields: [Self.preflight[1]]),
                ] {
                    #expect(!Self.isOpen(response), "\(origin)")
                    #expect(response["Vary"] == "Origin")
                }
            }
            #expect(!Self.isOpen(try await client.get(Paths.profile)))
            let twice = client.with("Origin", Self.origin).with("Origin", Self.origin)
            #expect(!Self.isOpen(try await twice.get(Paths.profile)))
            #expect(!Self.isOpen(try await app.admin().with("Origin", Self.origin).get("/version")))
        }
        try await withApplication { app in
            let response = try await app.client().with("Origin", Self.origin).get("/version")
            #expect(!Self.isOpen(response) && response["Vary"] == nil, "off by default")
        }
    }

    @Test("may have any one label where the setting has a star, and the scheme of an app's shell")
    func patterns() async throws {
        try await withApplication { configuration in
            configuration.cors.allowedOrigins = ["https://*.preview.example", "capacitor://localhost"]
        } _: { app in
            for (origin, isAllowed) in [
                ("https://a.preview.example", true), ("https://a-1.preview.example", true),
                ("capacitor://localhost", true), ("https://preview.example", false),
                ("https://.preview.example", false), ("https://a.b.preview.example", false),
                ("https://evil.example/.preview.example", false), ("https://a.preview.example.evil", false),
                ("http://a.preview.example", false), ("https://*.preview.example", false),
                ("capacitor://localhost:1", false),
            ] {
                let response = try await app.client().with("Origin", origin).get("/version")
                #expect(response["Access-Control-Allow-Origin"] == (isAllowed ? origin : nil))
            }
        }
    }

    @Test(
        "may send what libraries add by themselves, and nothing that a proxy or an admin would say",
        arguments: [
            "baggage, sentry-trace", "traceparent, tracestate", "b3", "x-b3-traceid, x-b3-spanid, x-b3-sampled",
            "x-datadog-trace-id, x-datadog-parent-id, x-datadog-origin, x-datadog-sampling-priority", "uber-trace-id",
            "newrelic, traceparent, tracestate", "elastic-apm-traceparent", "request-id, request-context",
            "x-instana-t, x-instana-s, x-instana-l", "x-dtpc", "x-requested-with", "content-type, x-xsrf-token",
            "cache-control, pragma", "hx-request, hx-current-url, hx-target", "authorization, content-type",
        ])
    func fieldsOfLibraries(names: String) async throws {
        try await withOrigins { app in
            let fields = Self.preflight + [("Access-Control-Request-Headers", names)]
            let response = try await app.client().send("OPTIONS", Paths.profile, fields: fields)
            let allowed = (response["Access-Control-Allow-Headers"] ?? "").lowercased().split(separator: ", ")
            #expect(Set(names.replacing(" ", with: "").split(separator: ",")).isSubset(of: allowed))
            #expect(
                Set(["*", "cookie", "host", "forwarded", "x-forwarded-for", "x-admin-key"]).isDisjoint(with: allowed))
        }
    }

    @Test("learn by a preflight what each path really allows")
    func preflights() async throws {
        try await withOrigins { app in
            let client = app.client()
            let paths = try #require(try await client.get("/openapi.json")[member: "paths"]?.members)
            #expect(paths.count > 20)
            let values = [
                "{session}": "current", "{name}": "profile", "{id}": "main", "{flow}": "wizard", "{n}": "1",
                "{code}": "not_found",
            ]
            for (path, operations) in paths {
                let target = values.reduce(path) { $0.replacing($1.key, with: $1.value) }
                let response = try await client.send("OPTIONS", target, fields: Self.preflight)
                #expect(response.status == 204 && Self.isAllowed(response), "\(path)")
                let methods = response["Access-Control-Allow-Methods"] ?? ""
                #expect(methods == response["Allow"])
                let described = (operations.members ?? []).map { $0.name.uppercased() }
                #expect(Set(described).isSubset(of: methods.split(separator: ", ").map(String.init)), "\(path)")
                let fields = response["Access-Control-Allow-Headers"]?.split(separator: ", ") ?? []
                #expect(
                    Set([
                        "Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "Prefer",
                        "Accept-Language", "Last-Event-ID",
                    ]).isSubset(of: fields))
                #expect(response["Access-Control-Max-Age"].flatMap(Int.init) ?? 0 > 0)
            }
            // `user` is for reading.
            let user = try await client.send("OPTIONS", Paths.user, fields: Self.preflight)
            #expect(user["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS")
            let missing = try await client.send("OPTIONS", "/nowhere", fields: Self.preflight)
            #expect(missing.status == 404 && missing["Access-Control-Allow-Methods"] == nil)
            // A plain OPTIONS is none.
            let plain = try await client.send("OPTIONS", Paths.profile, fields: [Self.preflight[0]])
            #expect(plain["Access-Control-Allow-Methods"] == nil && Self.isAllowed(plain))
        }
    }
}
