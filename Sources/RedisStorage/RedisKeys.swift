import Sessions

/// The keys of a store. What is in braces decides the place in a cluster: all of a session is in one place, and so are
/// all tasks of all sessions.
struct RedisKeys: Sendable {
    private let prefix: String

    /// - Parameter prefix: of every key, without braces.
    init(prefix: String) { self.prefix = prefix }

    /// A hash; see ``RedisFields``. Also the channel on which changes are told.
    func session(_ id: SessionID) -> String {
        var prefix = prefix
        let count = prefix.utf8.count + SessionID.length + 2
        return String(unsafeUninitializedCapacity: count) { buffer in
            let text = UnsafeMutableRawBufferPointer(buffer)
            prefix.withUTF8 { text.copyBytes(from: $0) }
            text[count - SessionID.length - 2] = UInt8(ascii: "{")
            id.write(into: .init(rebasing: text[(count - SessionID.length - 1)...]))
            text[count - 1] = UInt8(ascii: "}")
            return count
        }
    }

    /// The session of a channel.
    func session(ofChannel channel: [UInt8]) -> SessionID? {
        let start = prefix.utf8.count + 1
        guard channel.count == start + SessionID.length + 1 else { return nil }
        return SessionID(String(decoding: channel[start..<start + SessionID.length], as: UTF8.self))
    }

    /// A sorted set of ids, with the wall time in milliseconds at which they were added.
    func user(_ user: String) -> String { "\(prefix){u:\(user)}" }

    /// A sorted set of the tasks that name a user (``StoredTask/userID``).
    func tasks(naming user: String) -> String { "\(self.user(user))=" }

    /// A sorted set of the ids whose second half begins with that byte.
    func sessions(_ partition: Int) -> String {
        "\(prefix){x:\(Hexadecimal.text(CollectionOfOne(UInt8(truncatingIfNeeded: partition))))}"
    }

    func sessions(with id: SessionID) -> String { sessions(id.partition) }

    /// Sorted sets of tasks: all of them, by when they are over, and those of a name by when they are ready.
    var tasks: String { "\(prefix){q}=" }
    var overdue: String { "\(prefix){q}" }
    func ready(_ name: String) -> String { "\(prefix){q}:\(name)" }

    /// A sorted set of parts by when the first session of each is due. Part `7` is the sorted set `{d}:7` of session
    /// ids, 16 bytes each, by when they are due.
    var due: String { "\(prefix){d}" }

    /// A hash: the responses that a session keeps, beside it in a cluster. Scripts make the name of the session's.
    func replays(_ id: SessionID) -> String { "\(session(id)):k" }

    /// A ``RedisClaim``.
    func loneReplay(_ id: ShortDigest) -> String { "\(prefix){k:\(id.text)}" }

    /// The highest revision of all sessions that have ended.
    var floor: String { "\(prefix){f}" }
    /// See ``RedisMarks``.
    func mark(_ tag: String) -> String { "\(prefix){\(tag)}" }
    /// Which server looks for expired sessions.
    var sweeper: String { "\(prefix){sweeper}" }
    /// The last session at which it has looked.
    var swept: String { "\(prefix){sweeper}=" }
    /// A set of versions of flows.
    var flows: String { "\(prefix){flows}" }
    /// A hash: the fingerprints of the keys that something may be sealed with.
    var documentKeys: String { "\(prefix){keys}" }
}

extension SessionID {
    static let partitions = 256

    var partition: Int { Int(low >> 56) }
}

extension TaskID {
    /// Its name in sorted sets, which has the order of ids.
    var member: String {
        let number = String(number)
        let id = "\(session)".dropFirst("ses_".count)
        return "\(id)\(journey) \(String(repeating: "0", count: 20 - number.utf8.count))\(number)"
    }

    init?(member: String) {
        let parts = member.split(separator: " ")
        guard parts.count == 2, let session = SessionID("ses_\(parts[0].prefix(32))"), let number = UInt64(parts[1])
        else { return nil }
        self.init(session: session, journey: String(parts[0].dropFirst(32)), number: number)
    }
}
