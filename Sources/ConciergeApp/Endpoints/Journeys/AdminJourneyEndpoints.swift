import HTTPServer
import JSONDocument
import Sessions

/// Journeys for operators: those of one session, and where all of them stand.
struct AdminJourneyEndpoints: Sendable {
    let sessions: Sessions
    /// The session that the path names.
    let session: @Sendable (HTTPRequest) async throws -> Session

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/v1/sessions/{session}/journeys") { request in
            let page = try PageRequest(request)
            return .page(try ListPage(of: try await session(request).journeys(), page, named: \.text.journey)) {
                $0.raw(Problem.shown($1.text))
            }
        }
        routes.on(.get, "/v1/journeys/census", census)
    }

    private func census(_ request: HTTPRequest) async throws -> HTTPResponse {
        let rows = try await sessions.runningJourneys()
        return .json { json in
            json.array("items") { json in
                for row in rows {
                    json.beginObject()
                    json.member("flow", row.flow)
                    json.member("version", row.version)
                    json.member("state", row.state)
                    json.member("count", row.count)
                    json.member("in_use", row.inUse)
                    json.endObject()
                }
            }
        }
    }
}

extension AdminJourneyEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/sessions/{session}/journeys", id: "listJourneys",
            summary: "The journeys of a session, as their clients see them",
            parameters: [.limit, .cursor],
            answers: [.json("Those that are kept, the oldest first.", .journeyList)], problems: [.invalidInput]),
        APIOperation(
            method: .get, path: "/v1/journeys/census", id: "countJourneys",
            summary: "How many running journeys stand where: by flow, version and state",
            answers: [.json("A row for each state that is stood on.", .journeyCensus)]),
    ]
}
