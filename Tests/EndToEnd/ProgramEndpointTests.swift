import HTTPTestClient
import JSONDocument
import Operations
import Support
import Testing

@Suite("Health, version, description and metrics")
struct ProgramEndpointTests {
    @Test("health and version are on both listeners, for everybody")
    func health() async throws {
        try await withApplication { app in
            for client in [app.client(), app.admin()] {
                #expect(try await client.get("/health/alive").json == ["status": "alive"])
                let ready = try await client.get("/health/ready")
                #expect(ready.status == 200)
                #expect(ready[member: "status"] == "ready")
                let version = try await client.get("/version")
                #expect(version[member: "name"] == "concierge")
                #expect(version[member: "version"]?.string == BuildInformation.version)
                #expect(version[member: "libmicrohttpd"]?.string?.isEmpty == false)
                #expect(try await client.get("/openapi.json")[member: "openapi"]?.string?.hasPrefix("3.1") == true)
            }
        }
    }

    @Test("while the server drains it is alive and not ready, with the failing check")
    func draining() async throws {
        let store = SteeredStore()
        let arrived = Event()
        let release = Event()
        try await withApplication(store: store) { configuration in
            configuration.drainTimeout = .seconds(120)
            configuration.timeouts.handler = .seconds(120)
        } _: { app in
            let client = try await app.newSession().client
            store.before { _ in
                arrived.happen()
                await release.wait()
            }
            async let held = client.patch(Paths.profile, #"{"name":"Ada"}"#)
            await arrived.wait()
            async let stopped: Void = app.stop()
            // The admin listener goes last. Until the stopping begins it says that it is ready.
            var ready = try await app.admin().get("/health/ready")
            while ready.status == 200 { ready = try await app.admin().get("/health/ready") }
            #expect(ready.status == 503)
            #expect(ready["Retry-After"] != nil)
            #expect(ready[member: "status"] == "not_ready")
            let failing = (ready[member: "checks"]?.elements ?? []).filter { $0[string: "status"] == "failed" }
            #expect(failing.count == 1)
            #expect(failing.first?[string: "detail"]?.isEmpty == false)
            #expect(try await app.admin().get("/health/alive").status == 200)
            release.happen()
            #expect(try await held.status == 200, "what was under way is answered")
            try await stopped
        }
    }

    @Test("metrics count requests and their times by route, sessions and services")
    func metrics() async throws {
        try await withApplication { app in
            let client = try await app.newSession().client
            for _ in 0..<3 { try await client.get(Paths.profile) }
            try await client.patch(Paths.profile, #"{"name":1}"#)
            let answer = try await app.admin().get("/metrics")
            #expect(answer.status == 200)
            let lines = Set(answer.text.split(separator: "\n").map(String.init))
            let labels = #"route="/v1/sessions/{session}/services/{name}""#
            func count(_ method: String, _ status: Int) -> String? {
                lines.first {
                    $0.hasPrefix("concierge_http_requests_total{") && $0.contains(labels)
                        && $0.contains("method=\"\(method)\"") && $0.contains("status=\"\(status)\"")
                        && $0.contains("listener=\"public\"")
                }.flatMap { $0.split(separator: " ").last }.map(String.init)
            }
            #expect(count("GET", 200) == "3")
            #expect(count("PATCH", 400) == "1")
            #expect(
                lines.contains {
                    $0.hasPrefix("concierge_http_request_duration_seconds_bucket{") && $0.contains(labels)
                })
            #expect(lines.contains("concierge_sessions_resident 1"))
            #expect(lines.contains(#"concierge_services_live{service="profile"} 1"#))
            #expect(lines.contains("concierge_log_lines_dropped_total 0"))
            #expect(lines.contains { $0.hasPrefix("process_resident_memory_bytes ") })
            #expect(!answer.text.contains("ses_"))
        }
    }
}
