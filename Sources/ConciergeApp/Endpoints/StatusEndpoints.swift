import HTTPServer
import JSONDocument
import Sessions

/// The status of the server, for operators.
struct StatusEndpoints: Sendable {
    let sessions: Sessions
    let store: StoreDescription
    /// See `FileStore.file`.
    let file: String?
    let startedAt: ContinuousClock.Instant
    let metrics: @Sendable () -> [UInt8]

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/v1/service-kinds", kinds)
        routes.on(.get, "/v1/stats", statistics)
        routes.on(.get, "/metrics") { _ in
            var response = HTTPResponse(body: metrics())
            response.fields.add(.contentType, "application/openmetrics-text; version=1.0.0; charset=utf-8")
            response.fields.add(.cacheControl, "no-store")
            return response
        }
    }

    private func kinds(_ request: HTTPRequest) async throws -> HTTPResponse {
        let page = try ListPage(of: sessions.catalog.services, try PageRequest(request), named: \.name)
        return .page(page) { json, service in
            json.beginObject()
            json.name("name")
            json.string(service.name)
            json.name("kind")
            json.string(service.kind)
            json.name("scope")
            json.string(service.scope.rawValue)
            json.name("default")
            json.raw(service.defaultBytes)
            json.name("concurrency")
            json.string(service.concurrency.rawValue)
            json.name("lifetime_ms")
            if let lifetime = service.lifetime { json.int(Int(lifetime)) } else { json.null() }
            json.name("bound_to_user")
            json.bool(service.isUserBound)
            json.name("read_only")
            json.bool(service.isReadOnly)
            json.name("live")
            json.int(service.live)
            json.endObject()
        }
    }

    private func statistics(_ request: HTTPRequest) async throws -> HTTPResponse {
        let statistics = sessions.statistics
        return .json { json in
            json.object("sessions") { json in
                json.member("live", statistics.live)
                json.member("created", statistics.created)
                json.member("ended", statistics.ended)
                json.member("stored", statistics.stored)
                json.member("resident", statistics.live)
                json.member("allowed", statistics.allowed)
            }
            json.object("journeys") { $0.member("live", statistics.journeys) }
            json.object("services") { json in
                for service in statistics.services { json.member(service.name, service.live) }
            }
            json.object("store") { json in
                json.member("kind", store.kind)
                json.member("durability", store.durability)
                if let interval = store.syncInterval { json.member("sync_interval_ms", Int(interval.milliseconds)) }
                if let file { json.member("file", file) }
            }
            json.member("uptime_seconds", Int((ContinuousClock.now - startedAt).components.seconds))
        }
    }
}
