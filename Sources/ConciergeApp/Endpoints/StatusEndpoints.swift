import API
import HTTPServer
import JSONDocument
import Operations
import Sessions

/// The status of the server, for operators.
struct StatusEndpoints: Sendable {
    let sessions: Sessions
    let store: StoreDescription
    /// See `FileStore.file`.
    let file: String?
    let startedAt: ContinuousClock.Instant
    let metrics: @Sendable (MetricsFormat) -> [UInt8]

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/v1/service-kinds", kinds)
        routes.on(.get, "/v1/stats", statistics)
        routes.on(.get, "/metrics") { [sessions, metrics] request in
            await sessions.countStore()
            // Whatever is asked for, a scraper gets something that it may read.
            let best = AcceptedTypes(request).best(of: MetricsFormat.allCases.map(\.mediaType))
            let format = MetricsFormat.allCases.first { $0.mediaType == best } ?? .text
            var response = HTTPResponse(body: metrics(format))
            response.fields.add(.contentType, format.contentType)
            response.fields.add(.cacheControl, "no-store")
            response.fields.add(.vary, "Accept")
            return response
        }
    }

    private func kinds(_ request: HTTPRequest) async throws -> HTTPResponse {
        let page = try ListPage(of: sessions.catalog.services, try PageRequest(request), named: \.name)
        return .page(page) { json, service in
            json.beginObject()
            json.member("name", service.name)
            json.member("kind", service.kind)
            json.member("scope", service.scope.rawValue)
            json.name("default")
            json.raw(service.defaultBytes)
            json.member("concurrency", service.concurrency.rawValue)
            json.name("lifetime_ms")
            if let lifetime = service.lifetime { json.int(Int(lifetime)) } else { json.null() }
            json.member("bound_to_user", service.isUserBound)
            json.member("read_only", service.isReadOnly)
            json.member("hidden", service.isHidden)
            json.member("live", service.live)
            json.endObject()
        }
    }

    private func statistics(_ request: HTTPRequest) async throws -> HTTPResponse {
        await sessions.countStore()
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
            json.object("journeys") { $0.member("live", statistics.counts.running) }
            json.object("services") { json in
                for service in statistics.services {
                    json.name(service.name)
                    json.int(service.live)
                }
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

extension StatusEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/service-kinds", id: "listServiceKinds",
            summary: "Every service, and how many instances live",
            parameters: [.limit, .cursor], responses: [.json("The services.", "ServiceKinds")],
            problems: [.invalidInput]),
        APIOperation(
            method: .get, path: "/v1/stats", id: "getStatistics", summary: "Counts of sessions, journeys and services",
            responses: [.json("The numbers.", "Statistics")]),
        APIOperation(
            method: .get, path: "/metrics", id: "getMetrics", summary: "Metrics, for a scraper",
            responses: [
                APIResponse(
                    status: .ok,
                    meaning: "The text format of Prometheus, or OpenMetrics 1.0 where Accept prefers that.",
                    contents: MetricsFormat.allCases.map { ($0.contentType, "Text") }, headers: [.vary])
            ]),
    ]
}

/// Maintenance of a running server's store, which no other process may write.
struct StoreEndpoints: Sendable {
    let sessions: Sessions

    func add(to routes: inout RouterBuilder) {
        routes.on(.delete, "/v1/store/free-pages", giveBack)
    }

    /// One step: the caller repeats it while free pages are left.
    private func giveBack(_ request: HTTPRequest) async throws -> HTTPResponse {
        let space = try await sessions.giveBackSpace() ?? SpaceGivenBack(given: 0, left: 0, isPossible: false)
        return .json { json in
            json.member("given_back", space.given)
            json.member("free", space.left)
            json.member("possible", space.isPossible)
        }
    }
}

extension StoreEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .delete, path: "/v1/store/free-pages", id: "giveBackFreePages",
            summary: "Returns free pages of the store's file to the file system, some at a time",
            responses: [.json("How many pages were returned, and how many are left.", "SpaceGivenBack")],
            problems: [.storageFull])
    ]
}
