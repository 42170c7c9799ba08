import HTTPTestClient
import JSONDocument

/// A client of a stream of server-sent events, over a connection of its own. Each call waits for what it returns.
package final class EventReader: @unchecked Sendable {
    // One test uses it, one call after the other.
    private let connection: RawConnection
    private var unread: [UInt8] = []

    package let head: TestResponse
    /// What a client sends to resume.
    package private(set) var lastID: String?

    package struct Event: Sendable, Equatable {
        package let name: String
        package let data: JSONDocument
        /// Nil where the event has no line of its own for it.
        package let id: String?

        package init(name: String, data: JSONDocument, id: String?) {
            self.name = name
            self.data = data
            self.id = id
        }

        package subscript(_ member: String) -> JSONDocument? { data[member: member] }
    }

    /// One block of the stream.
    package enum Block: Sendable, Equatable {
        case event(Event)
        case comment
        /// What gives the client a resume point, and no event.
        case start
        case end
        /// The connection broke.
        case cut
    }

    private init(_ connection: RawConnection, _ head: TestResponse) {
        self.connection = connection
        self.head = head
    }

    /// Opens the stream, and reads up to its resume point when it has begun.
    ///
    /// - Parameters:
    ///   - isEventSource: whether it asks as a browser's `EventSource` does, which wants nothing but a stream.
    ///   - receiveBuffer: see `RawConnection`.
    package static func open(
        _ client: TestClient, after id: String? = nil, path: String = "/v1/sessions/current/events",
        isEventSource: Bool = false, receiveBuffer: Int32? = nil
    ) async throws -> EventReader {
        let fields = id.map { [("Last-Event-ID", $0)] } ?? []
        let request = client.with("Accept", "text/event-stream\(isEventSource ? "" : ", */*")")
            .request("GET", path, fields: fields)
        let port = client.port
        let reader = try await blocking {
            let connection = try RawConnection(port: port, receiveBuffer: receiveBuffer)
            try connection.send(request)
            let head = try connection.readResponse(isBodiless: true)
            return EventReader(connection, head)
        }
        if reader.head.status == 200 { _ = try await reader.block() }
        return reader
    }

    package func block() async throws -> Block { try await blocking { try self.read() } }

    /// The next event; comments are passed over. Nil at the end of the stream.
    package func next() async throws -> Event? {
        while true {
            switch try await block() {
            case .event(let event): return event
            case .comment, .start: continue
            case .end, .cut: return nil
            }
        }
    }

    /// The next events.
    package func next(_ count: Int) async throws -> [Event] {
        var events: [Event] = []
        while events.count < count, let event = try await next() { events.append(event) }
        return events
    }

    /// The events up to the end of the stream.
    package func rest() async throws -> [Event] { try await next(.max) }

    package func close(withReset: Bool = false) { connection.close(withReset: withReset) }

    /// Returns when the server has closed the connection, or the time is over, without reading.
    package func waitForHangUp(withinMilliseconds time: Int32) async throws {
        try await blocking { self.connection.waitForHangUp(withinMilliseconds: time) }
    }

    private func read() throws -> Block {
        let blank: [UInt8] = [10, 10]
        while true {
            if let end = unread.indices.first(where: { unread[$0...].starts(with: blank) }) {
                let text = String(decoding: unread[..<end], as: UTF8.self)
                unread.removeFirst(end + 2)
                return try block(of: text)
            }
            do {
                guard let chunk = try connection.readChunk() else { return unread.isEmpty ? .end : .cut }
                unread += chunk
            } catch let failure as RawConnection.Failure where failure.isEndOfStream {
                return .cut
            }
        }
    }

    private func block(of text: String) throws -> Block {
        var (name, data, id): (String?, String?, String?)
        for line in text.split(separator: "\n") {
            if line.hasPrefix(":") { continue }
            let parts = line.split(separator: ": ", maxSplits: 1)
            switch parts.first {
            case "event": name = String(parts[1])
            case "data": data = String(parts[1])
            case "id": id = String(parts[1])
            default: break
            }
        }
        if let id { lastID = id }
        guard let data else { return id == nil ? .comment : .start }
        return .event(Event(name: name ?? "message", data: try JSONDocument(parsing: Array(data.utf8)), id: id))
    }
}
