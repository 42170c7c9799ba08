import API
import HTTPServer
import JSONDocument
import Sessions

/// Everything that there is of a person: exported, and erased. See docs/persons.md.
struct PersonEndpoints: Sendable {
    let sessions: Sessions

    private static let paths = ["/v1/users/{user}", "/v1/users"]

    func add(to routes: inout RouterBuilder) {
        for path in Self.paths {
            routes.on(.get, path, export)
            routes.on(.delete, path, erase)
        }
    }

    /// The person whom the path names, or for ids that no path can carry, such as an address, the query.
    private func user(of request: HTTPRequest) throws -> String {
        if request.match.route?.pattern.parameterNames.isEmpty == false { return request.parameter("user") }
        guard let user = try QueryReader(request).text(.userID), !user.isEmpty else {
            // A name that has got lost must not stand for all.
            throw Problem(.invalidInput, errors: [JSONViolation(pointer: "/user_id", detail: "is missing")])
        }
        return user
    }

    private func export(_ request: HTTPRequest) async throws -> HTTPResponse {
        let user = try user(of: request)
        // An unreachable store must be reported before the response begins.
        let person = try await sessions.person(user)
        request.counts = [
            ("sessions", person.sessions.count + person.damaged.count), ("notices", person.notices.count),
        ]
        let export = PersonExport(of: person, user, in: sessions, under: request.basePath)
        return HTTPResponse(
            .ok, fields: HTTPFields(.state), source: HTTPBodySource { try await export.next() })
    }

    private func erase(_ request: HTTPRequest) async throws -> HTTPResponse {
        let erased = try await sessions.erase(userID: user(of: request))
        let counts: [(name: StaticString, count: Int)] = [
            ("sessions", erased.sessions), ("journeys", erased.journeys), ("tasks", erased.tasks),
            ("notices", erased.notices),
        ]
        request.counts = counts
        return .json { json in
            for (name, count) in counts { json.member(name, count) }
        }
    }
}

extension PersonEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/users/{user}", id: "exportPerson", summary: "Everything that there is of a person",
            responses: [exported]),
        APIOperation(
            method: .delete, path: "/v1/users/{user}", id: "erasePerson",
            summary: "Erases a person: all their sessions end, and what names the person is removed",
            parameters: [.idempotencyKey], responses: [erased], problems: erasing),
        APIOperation(
            method: .get, path: "/v1/users", id: "exportPersonOfAnyId",
            summary: "The same for an id that no path can carry", parameters: [.userID], responses: [exported],
            problems: [.invalidInput]),
        APIOperation(
            method: .delete, path: "/v1/users", id: "erasePersonOfAnyId",
            summary: "The same for an id that no path can carry", parameters: [.userID, .idempotencyKey],
            responses: [erased], problems: erasing + [.invalidInput]),
    ]

    private static let exported = APIResponse.json(
        "All of it, also with empty lists. It has no length, and ends early when the store fails.", "PersonExport")
    private static let erased = APIResponse.json("How many of each were erased.", "ErasedPerson")
    private static let erasing: [ProblemKind] = [.contention, .storageFull]
}
