import API
import HTTPServer
import JSONDocument
import Navigation
import Sessions

/// Flows for operators: which there are, and how many journeys have taken each transition.
struct FunnelEndpoints: Sendable {
    let sessions: Sessions
    let pages: FlowPages

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/v1/flows", handler: { .response(try pages.list($0)) })
        routes.on(.get, "/v1/flows/{flow}/funnel", show)
    }

    private func show(_ request: HTTPRequest) async throws -> HTTPResponse {
        var reader = try QueryReader(request)
        let version = reader.integer(.journeyVersion, in: 1...Int(Int32.max))
        try reader.check()
        let (id, catalog) = (request.parameter("flow"), sessions.journeySettings.engine.catalog)
        guard catalog.flow(id, version: version) != nil else { throw Problem(.flowNotFound) }
        let (counts, now) = (sessions.transitions, sessions.now)
        let funnel = FlowFunnel(of: id, version: version, in: catalog, counted: counts.counts(at: now))
        // A journey that is over has no state.
        var active: [String: Int] = [:]
        for (place, count) in try await sessions.journeyCounts()
        where place.flow == id && (version.map { $0 == place.version } ?? true) {
            active[place.state, default: 0] += count
        }
        return .json { json in
            json.member("flow", id)
            json.array("versions") { json in
                for flow in catalog.versions(of: id) { json.int(flow.version) }
            }
            json.member("since", sessions.timestamp(counts.since))
            json.objects("states", funnel.states) { json, state in
                json.member("id", state.id)
                json.member("type", state.typeName)
                if let child = state.childFlow { json.member("flow", child.flow) }
                json.member("active", active[state.id] ?? 0)
            }
            json.objects("transitions", funnel.transitions) { json, transition in
                let count = funnel.counts[transition] ?? .init()
                json.member("from", transition.from)
                json.member("to", transition.to)
                json.member("all", count.all)
                json.object("versions") { json in
                    for (version, count) in count.versions.sorted(by: { $0.key < $1.key }) {
                        json.name("\(version)")
                        json.int(count)
                    }
                }
                json.member("today", count.today)
            }
        }
    }
}

extension FunnelEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/flows", id: "listFlows", summary: "The flows that can be started",
            parameters: [.limit, .cursor, .acceptLanguage, .ifNoneMatch],
            responses: [.json("Each flow once, with its versions.", "FlowList", headers: [.etag, .vary]), .unchanged],
            problems: [.invalidInput, .invalidCondition]),
        APIOperation(
            method: .get, path: "/v1/flows/{flow}/funnel", id: "showFunnel",
            summary: "How many journeys have taken each transition of a flow, and how many stand where",
            parameters: [.journeyVersion], responses: [.json("The funnel.", "FlowFunnel")],
            problems: [.invalidInput, .flowNotFound]),
    ]
}
