import API
import HTTPServer
import JSONDocument
import Sessions
import Synchronization

extension HTTPFieldName {
    static let lastEventID = HTTPFieldName("Last-Event-ID")
}

/// The stream of a session's changes: API, section 6.
struct WatchEndpoint: Sendable {
    let sessions: Sessions
    let caller: SessionCaller

    static let path = "/v1/sessions/{session}/events"

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, Self.path, handler: caller.watching.handler(watch))
    }

    @Sendable private func watch(_ request: HTTPRequest, _ found: FoundSession) throws -> HTTPOutcome {
        func watch(after point: UInt64?) throws -> SessionWatcher {
            try found.session.watch(after: point, token: found.token?.digest, from: request.client.network)
        }
        let point = try Self.resumePoint(of: request)
        let (watcher, isReset): (SessionWatcher, Bool)
        do {
            (watcher, isReset) = (try watch(after: point), false)
        } catch WatchError.resumePointGone where request.isOfEventSource {
            (watcher, isReset) = (try watch(after: nil), true)
        }
        return .response(
            HTTPResponse(
                fields: [
                    .contentType: EventStream.mediaType, .cacheControl: "no-store",
                    // Caddy 2.6, HAProxy and Varnish would otherwise compress the stream, and keep what fills no block
                    // yet. `no-transform` would only help with HAProxy. RFC 9110, section 8.4, advises against this
                    // value, which clients take for no coding all the same.
                    "Content-Encoding": "identity",
                    // nginx would otherwise keep the stream until it has a buffer full.
                    "X-Accel-Buffering": "no",
                ],
                source: EventStream(
                    watcher, isReset: isReset, isHidden: { [sessions] in sessions.catalog[$0]?.isHidden ?? false },
                    timestamp: { [sessions] in sessions.timestamp($0) }
                ).source))
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

extension WatchEndpoint {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: path, id: "watchSession",
            summary: "A stream of the session's changes, one event for each committed change",
            parameters: [.lastEventID],
            responses: [
                APIResponse(
                    status: .ok, meaning: "The stream. It has no end until the session ends.",
                    contents: [(EventStream.mediaType, "Text")])
            ],
            problems: [.invalidInput, .resumePointGone])
    ]
}

extension HTTPRequest {
    /// Whether a browser's `EventSource` asks for the stream. It sends this type alone, and gives up for good at any
    /// other status than 200 (HTML Living Standard, section 9.2.2).
    var isOfEventSource: Bool {
        guard match.route?.pattern.text == WatchEndpoint.path, method == .get,
            case .one(let accepted) = fields.only(.accept)
        else { return false }
        return accepted.equals(EventStream.mediaType)
    }
}

extension Problem {
    /// For an `EventSource`, a problem that will pass: a stream without events that says when to come back. Nil for
    /// other problems.
    var comingBack: HTTPResponse? {
        guard [.tooManyRequests, .serviceUnavailable, .gatewayTimeout].contains(kind.status) else { return nil }
        let seconds = min(fields[.retryAfter].flatMap { Int($0) } ?? 3, 300)
        let retry = seconds * 1_000 + Int.random(in: 0...2_000)
        var response = HTTPResponse(fields: fields, body: Array("retry: \(retry)\n\n".utf8))
        response.fields.add(.contentType, EventStream.mediaType)
        response.fields.add(.cacheControl, "no-store")
        return response
    }
}

/// The body of a stream of server-sent events: HTML Living Standard, section 9.2.
///
/// Each change of a commit is an event, and only the last one has an `id`, the session's revision. So a client that was
/// cut off in the middle of a commit resumes before it, and no change is lost.
final class EventStream: Sendable {
    private enum Stage { case new, open, closing }

    private let watcher: SessionWatcher
    /// Whether changes before the stream's beginning were lost.
    private let isReset: Bool
    /// Whether clients are not told of the service of that name.
    private let isHidden: @Sendable (String) -> Bool
    private let timestamp: @Sendable (Int64) -> Timestamp
    private let stage = Mutex(Stage.new)

    static let mediaType = "text/event-stream"
    /// How long browsers wait before they connect again, in milliseconds. After a restart not all come at once.
    private static let retry = 1_000...5_000

    init(
        _ watcher: SessionWatcher, isReset: Bool = false, isHidden: @escaping @Sendable (String) -> Bool,
        timestamp: @escaping @Sendable (Int64) -> Timestamp
    ) {
        self.watcher = watcher
        self.isReset = isReset
        self.isHidden = isHidden
        self.timestamp = timestamp
    }

    var source: HTTPBodySource {
        HTTPBodySource(ask: { [self] done in next(done) }, end: { [watcher] in watcher.leave() })
    }

    private func next(hasSent: Bool = true, _ done: @escaping @Sendable (HTTPBodySource.Piece) -> Void) {
        let stage = stage.withLock { stage in
            defer { if stage == .new { stage = .open } }
            return stage
        }
        switch stage {
        // Without data it is no event, but the client knows from now on where to resume.
        case .new:
            let head = Array("retry: \(Int.random(in: Self.retry))\nid: \(watcher.point)\n\n".utf8)
            let reset = Self.event("reset", id: watcher.point) { $0.member("revision", watcher.point) }
            done(.bytes(isReset ? head + reset : head))
        case .open:
            watcher.next(hasSent: hasSent) { [self] event in
                let piece = piece(event)
                // Of a commit that changed nothing that is shown. Without bytes the stream would end.
                if case .bytes(let bytes) = piece, bytes.isEmpty { return next(hasSent: false, done) }
                done(piece)
            }
        case .closing: done(.end)
        }
    }

    private func piece(_ event: SessionWatcher.Event) -> HTTPBodySource.Piece {
        switch event {
        case .commits(let commits): return .bytes(commits.flatMap { $0.text(text) })
        case .nothing: return .bytes(Array(":\n\n".utf8))
        case .lost: return .cut
        // The last event has said so.
        case .ended(.sessionEnded): return .end
        // A page needs a moment for its new cookie. With the old one an `EventSource` would get 401, which is the end.
        case .ended(.tokenReplaced): return last("token_replaced", retry: Int.random(in: 4_000...8_000))
        case .ended(.stopping): return last("stopping")
        case .ended(.gap): return last("reset")
        // A browser that came back at once would displace the next.
        case .ended(.displaced): return last("displaced", retry: Int.random(in: 30_000...40_000))
        }
    }

    private func last(_ reason: String, retry: Int? = nil) -> HTTPBodySource.Piece {
        stage.withLock { $0 = .closing }
        let retry = retry.map { "retry: \($0)\n" } ?? ""
        return .bytes(Array(retry.utf8) + Self.event("stream.closed", id: nil) { $0.member("reason", reason) })
    }

    private func text(of commit: WatchedCommit) -> [UInt8] {
        var text: [UInt8] = []
        let changes = commit.changes.filter { !($0.service.map(isHidden) ?? false) }
        for (place, change) in changes.enumerated() {
            let isLast = place == changes.count - 1 && !commit.isLater
            text += event(of: change, in: commit, id: isLast ? commit.revision : nil)
        }
        return text
    }

    private func event(of change: SessionChange, in commit: WatchedCommit, id: UInt64?) -> [UInt8] {
        func event(_ name: String, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
            Self.event(name, id: id) { json in
                json.member("revision", commit.revision)
                write(&json)
            }
        }
        func service(_ name: String, _ service: String, _ etag: ServiceETag) -> [UInt8] {
            event(name) { json in
                json.member("service", service)
                json.member("etag", etag.description)
            }
        }
        func journey(_ name: String, _ journey: String, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
            event(name) { json in
                json.member("journey", journey)
                write(&json)
                json.member("etag", commit.journeyTags[journey]?.description)
            }
        }
        switch change {
        case .serviceChanged(let name, let etag): return service("service.changed", name, etag)
        case .serviceCleared(let name, let etag): return service("service.cleared", name, etag)
        case .serviceRemoved(let name): return service("service.removed", name, .unwritten)
        case .journeyMoved(let id, let step): return journey("journey.moved", id) { $0.member("step", step) }
        case .journeyFinished(let id, let step): return journey("journey.finished", id) { $0.member("step", step) }
        case .journeyExpired(let id, let step): return journey("journey.expired", id) { $0.member("step", step) }
        case .journeyAbandoned(let id): return journey("journey.abandoned", id) { _ in }
        case .taskStarted(let id, let name): return journey("task.started", id) { $0.member("task", name) }
        case .taskEnded(let id, let name): return journey("task.ended", id) { $0.member("task", name) }
        case .extended(let idleEnd):
            return event("session.extended") { $0.member("idle_expires_at", timestamp(idleEnd)) }
        case .ended(let end):
            return event("session.ended") { $0.member("reason", end.rawValue) }
        }
    }

    private static func event(_ name: String, id: UInt64?, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 128)
        json.beginObject()
        write(&json)
        json.endObject()
        // The writer breaks no line.
        return Array("event: \(name)\ndata: ".utf8) + json.bytes
            + Array(id.map { "\nid: \($0)\n\n" }?.utf8 ?? "\n\n".utf8)
    }
}
