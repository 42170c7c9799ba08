import API
import HTTPServer
import JSONDocument
import Sessions

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
            json.name("given_back")
            json.int(space.given)
            json.name("free")
            json.int(space.left)
            json.name("possible")
            json.bool(space.isPossible)
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
