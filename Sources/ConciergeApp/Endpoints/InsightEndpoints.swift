import HTTPServer
import JSONDocument
import Sessions

/// A look inside, for operators: API, section 7.
struct InsightEndpoints: Sendable {
    let sessions: Sessions
    let store: StoreDescription
    /// See `SessionStore.file`.
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
            json.name("sessions")
            json.beginObject()
            json.name("live")
            json.int(statistics.live)
            json.name("created")
            json.int(statistics.created)
            json.name("ended")
            json.int(statistics.ended)
            json.endObject()
            json.name("journeys")
            json.beginObject()
            json.name("live")
            json.int(statistics.journeys)
            json.endObject()
            json.name("services")
            json.beginObject()
            for service in statistics.services {
                json.name(service.name)
                json.int(service.live)
            }
            json.endObject()
            json.name("store")
            json.beginObject()
            json.name("kind")
            json.string(store.kind)
            store.writePolicy(to: &json)
            if let file {
                json.name("file")
                json.string(file)
            }
            json.endObject()
            json.name("uptime_seconds")
            json.int(Int((ContinuousClock.now - startedAt).components.seconds))
        }
    }
}
