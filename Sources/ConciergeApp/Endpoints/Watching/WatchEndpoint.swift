import API
import HTTPServer
import JSONDocument
import Sessions

extension HTTPFieldName {
    static let lastEventID = HTTPFieldName("Last-Event-ID")
}

/// The stream of a session's changes: API, section 6.
struct WatchEndpoint: Sendable {
    let sessions: Sessions
    let caller: SessionCaller

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/v1/sessions/{session}/events", handler: caller.watching.handler(watch))
    }

    @Sendable private func watch(_ request: HTTPRequest, _ session: Session) throws -> HTTPOutcome {
        let token = try caller.presentedToken(of: request).digest
        let watcher = try session.watch(
            after: try Self.resumePoint(of: request), token: token, from: request.client.network)
        return .response(
            HTTPResponse(
                fields: [.contentType: EventStream.mediaType, .cacheControl: "no-store"],
                source: EventStream(watcher) { [sessions] in sessions.timestamp($0) }.source))
    }

    /// - Returns: nil when the client begins.
    private static func resumePoint(of request: HTTPRequest) throws(Problem) -> UInt64? {
        let values = request.fields.values(of: .lastEventID)
        guard let text = values.first, !(text.isEmpty && values.count == 1) else { return nil }
        guard values.count == 1, let tag = ServiceETag(opaque: text) else {
            throw Problem(.invalidInput, "Last-Event-ID must be the id of an event of this session, once.")
        }
        return tag.revision
    }
}
