import JSONDocument
import Sessions

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
