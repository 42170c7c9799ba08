import JSONDocument
import Sessions

extension JSONWriter {
    /// A session as clients see it.
    mutating func session(_ session: SessionSummary) {
        let isPlain = session.userID == nil && session.labels.isEmpty
        SessionText.template.withCopy(for: session, isPlain: isPlain) { raw($0) }
        if !isPlain {
            member("user_id", session.userID)
            object("labels") { json in
                for label in session.labels.items {
                    json.name(label.name)
                    json.string(label.value)
                }
            }
        }
        if let time = session.keptUntil { member("kept_until", time) }
        member("revision", session.revision)
        endObject()
    }

    /// The member with a new token.
    mutating func token(_ token: SessionToken) {
        name("token")
        plain(length: SessionToken.length) { token.write(into: $0) }
    }

    /// One line of a session's list of services.
    ///
    /// - Parameter owner: `session`, or the flow of the coordinator that owns it; nil to leave that out.
    mutating func service(_ service: ServiceStatus, owner: String? = nil) {
        beginObject()
        member("name", service.name)
        member("kind", service.kind)
        member("scope", service.scope.rawValue)
        member("status", service.isLive ? "live" : "registered")
        member("etag", service.etag.description)
        if let owner {
            member("owner", owner)
        }
        if let time = service.createdAt { member("created_at", time) }
        if let time = service.updatedAt { member("updated_at", time) }
        if let time = service.expiresAt { member("expires_at", time) }
        array("commands") { json in
            for command in service.commands { json.string(command) }
        }
        endObject()
    }

    mutating func member(_ name: String, _ time: Timestamp) {
        self.name(name)
        self.time(time)
    }

    mutating func time(_ time: Timestamp) {
        plain(length: Timestamp.length) { time.write(into: $0) }
    }

    /// A string that needs no escaping.
    private mutating func plain(length: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: length + 2, alignment: 1) { quoted in
            quoted[0] = UInt8(ascii: "\"")
            write(UnsafeMutableRawBufferPointer(rebasing: quoted[1...length]))
            quoted[length + 1] = UInt8(ascii: "\"")
            raw(UnsafeRawBufferPointer(quoted))
        }
    }
}

/// The beginning of every session's text. It is written once, and each session's own values are put into a copy.
/// Sessions are created and shown so often that writing the member names again would be most of the work.
struct SessionText: Sendable {
    static let template = SessionText()

    private var text: [UInt8] = Array("{".utf8)
    /// The places of the values.
    private var id = 0
    private var createdAt = 0
    private var lastUsedAt = 0
    private var idleExpiresAt = 0
    private var expiresAt = 0
    /// How much of the text applies to a session with a user or labels.
    private var commonCount = 0

    private init() {
        id = add("id", length: SessionID.length)
        createdAt = add("created_at", length: Timestamp.length)
        lastUsedAt = add("last_used_at", length: Timestamp.length)
        idleExpiresAt = add("idle_expires_at", length: Timestamp.length)
        expiresAt = add("expires_at", length: Timestamp.length)
        commonCount = text.count
        text += Array(#","user_id":null,"labels":{}"#.utf8)
    }

    /// Adds a member whose value is a string that needs no escaping. Returns where the value begins.
    private mutating func add(_ name: String, length: Int) -> Int {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        text += Array("\"\(name)\":\"".utf8)
        defer { text += [UInt8](repeating: UInt8(ascii: " "), count: length) + [UInt8(ascii: "\"")] }
        return text.count
    }

    /// Passes the text of the session up to its expiry; with `isPlain`, also its labels, of which it has none.
    func withCopy<Result>(
        for session: SessionSummary, isPlain: Bool, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let count = isPlain ? text.count : commonCount
        return withUnsafeTemporaryAllocation(byteCount: text.count, alignment: 1) { copy in
            copy.copyBytes(from: text)
            session.id.write(into: .init(rebasing: copy[id...]))
            session.createdAt.write(into: .init(rebasing: copy[createdAt...]))
            session.lastUsedAt.write(into: .init(rebasing: copy[lastUsedAt...]))
            session.idleExpiresAt.write(into: .init(rebasing: copy[idleExpiresAt...]))
            session.expiresAt.write(into: .init(rebasing: copy[expiresAt...]))
            return body(UnsafeRawBufferPointer(rebasing: copy[..<count]))
        }
    }
}
