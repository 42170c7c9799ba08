import Sessions
import Storage

/// The fields of a session's hash.
///
///     r  revision · u  last use · n  nonce of the last commit · o  user · h  head · d  due time · w  kept until
///     s:<name of a service>  document · t:<id>  task · e:<id>  notice · k:<id>  what is known of a response that is
///     kept beside it · c  which process has reserved it, and until when
///
/// For a minute after its end: `f`, the revision from which another session in its place has to begin. While there are
/// notices, `f` and these stay.
///
/// `r`, `u`, `d`, `w` are decimal; `h`, `s`, `t`, `k` are bytes that begin with a format and end with a CRC-32, which
/// also covers the session and the name. In format 2 labels or document are sealed.
struct RedisFields: Sendable {
    let id: SessionID
    let names: ServiceNames
    let keys: DocumentKeys?

    static let (plain, sealed): (UInt8, UInt8) = (1, 2)
    /// What `SessionStore.sessions(ofUser:)` reads.
    static let listed = ["r", "u", "o", "h", "d", "w", "s:\(UserService.name)"]
    /// Where the user is among them.
    static let listedUser = 2

    private enum Flag {
        static let cookie: UInt8 = 1
        static let floor: UInt8 = 2
        /// At the end of the head, which a server of an earlier version does not read.
        static let exchange: UInt8 = 4
        /// The same.
        static let idleTimeout: UInt8 = 8
    }

    // MARK: Writing

    func head(_ record: SessionRecord) -> [UInt8] {
        let details = record.details
        var head = StateWriter(reservingCapacity: 96)
        head.add(keys == nil ? Self.plain : Self.sealed)
        record.token.withBytes { head.add(raw: $0) }
        head.add(difference: record.createdAt)
        head.add(difference: record.expiresAt &- record.createdAt)
        var flags: UInt8 = 0
        if details.mode == .cookie { flags |= Flag.cookie }
        if details.revisionFloor > 0 { flags |= Flag.floor }
        if details.exchange != nil { flags |= Flag.exchange }
        if details.idleTimeout != nil { flags |= Flag.idleTimeout }
        head.add(flags)
        if details.revisionFloor > 0 { head.add(details.revisionFloor) }
        var labels = details.labels.isEmpty ? [] : details.labels.text
        if let keys, !labels.isEmpty { labels = SessionSeal(keys, of: id).seal(labels, named: "") }
        head.add(labels)
        head.add(details.retiredTokens, from: record.createdAt)
        if let exchange = details.exchange { head.add(exchange, from: record.createdAt) }
        if let timeout = details.idleTimeout { head.add(difference: timeout) }
        return sealed(head, record.userID ?? "")
    }

    func service(_ document: ServiceDocument, named name: String) -> [UInt8] {
        var service = StateWriter(reservingCapacity: document.bytes.count + 48)
        service.add(keys == nil ? Self.plain : Self.sealed)
        service.add(document.birth)
        service.add(document.revision)
        service.add(difference: document.createdAt)
        service.add(difference: document.updatedAt &- document.createdAt)
        if let keys {
            service.add(SessionSeal(keys, of: id).seal(document.bytes, named: name))
        } else {
            service.add(document.bytes)
        }
        return sealed(service, name)
    }

    static func task(_ task: StoredTask) -> [UInt8] {
        var text = StateWriter(reservingCapacity: 64)
        text.add(plain)
        text.add(task.id.description)
        text.add(task.name)
        for number in [task.attempts, task.attempt, task.isClaimed ? 1 : 0] { text.add(UInt64(number)) }
        // The second was the end of the task's time, which its journey has now. Servers of before read it.
        for time in [task.createdAt, task.notice?.endsAt ?? RedisStore.never, task.due] { text.add(difference: time) }
        // Only where it is so: a program of an earlier version reads the rest.
        if task.isKept || task.userID != nil || task.notice != nil { text.add(UInt64(task.isKept ? 1 : 0)) }
        if let last = task.notice?.text ?? task.userID { text.add(last) }
        return checked(text)
    }

    static func field(_ task: TaskID) -> String { task.isNotice ? "e:\(task)" : "t:\(task)" }

    static func field(_ replay: ReplayEntry) -> String { "k:\(replay.id.text)" }

    func replay(_ entry: ReplayEntry) -> [UInt8] {
        var text = StateWriter(reservingCapacity: 48)
        text.add(Self.plain)
        entry.fingerprint.bytes.withUnsafeBytes { text.add(raw: $0) }
        text.add(difference: entry.endsAt)
        text.add(UInt64(entry.size))
        return sealed(text, entry.id.text)
    }

    /// Nil when it is damaged: then a copy of its request is executed as a new one.
    private func replay(_ bytes: [UInt8], field: Substring) -> ReplayEntry? {
        Self.read(bytes, id, String(field)) { _, text in
            guard let id = ShortDigest(text: field),
                let fingerprint = ShortDigest(bytes: try text.raw(ShortDigest.byteCount))
            else { return nil }
            return ReplayEntry(id: id, fingerprint: fingerprint, endsAt: try text.difference(), size: try text.count())
        }
    }

    private func sealed(_ bytes: StateWriter, _ name: String) -> [UInt8] { Self.checked(bytes, id, name) }

    /// - Parameters:
    ///   - id: of the session to which they belong.
    ///   - name: of what they are there.
    static func checked(_ bytes: StateWriter, _ id: SessionID? = nil, _ name: String = "") -> [UInt8] {
        var bytes = bytes
        let sum = bytes.bytes.withUnsafeBytes { checksum($0, id, name) }
        withUnsafeBytes(of: sum.littleEndian) { bytes.add(raw: $0) }
        return bytes.bytes
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer, _ id: SessionID?, _ name: String) -> UInt32 {
        var sum = RowChecksum()
        sum.add(bytes)
        if let id {
            withUnsafeTemporaryAllocation(byteCount: SessionID.length, alignment: 1) { text in
                id.write(into: text)
                sum.add(UnsafeRawBufferPointer(text))
            }
        }
        var name = name
        name.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
        return sum.value
    }

    // MARK: Reading

    /// A session, and what of it is damaged, in sentences.
    struct Found {
        var session: StoredSession?
        var damage: [String] = []
    }

    /// - Parameter reply: of `HGETALL`.
    func session(_ reply: RedisReply) -> Found {
        var (written, use, head, user) = (RedisReply.none, RedisReply.none, RedisReply.none, RedisReply.none)
        var services: [(name: String, value: RedisReply)] = []
        var replays: [ReplayEntry] = []
        var times = SessionTimes.none
        let list = reply.list
        for place in stride(from: 0, to: list.count - 1, by: 2) {
            guard let name = list[place].text else { continue }
            let value = list[place + 1]
            switch name {
            case "r": written = value
            case "u": use = value
            case "h": head = value
            case "o": user = value
            case "d": times.dueAt = value.number ?? .max
            case "w": times.keptUntil = value.number ?? .min
            case _ where name.hasPrefix("s:"): services.append((String(name.dropFirst(2)), value))
            case _ where name.hasPrefix("k:"):
                if let entry = value.bytes.flatMap({ replay($0, field: name.dropFirst(2)) }) { replays.append(entry) }
            default: break
            }
        }
        guard let written = written.text else { return Found() }
        var found = Found()
        guard let revision = UInt64(written), let usedAt = use.number,
            let head = head.bytes.flatMap({ self.head($0, user: user.text) }), head.hasLabels
        else {
            found.damage.append("The session \(id) is damaged; it cannot be read.")
            return found
        }
        var documents: [ServiceDocument] = []
        for (name, value) in services {
            // Those that were not asked for are nil.
            guard let bytes = value.bytes else { continue }
            let read = self.service(bytes, named: name)
            if read == nil { found.damage.append("The service \(name) of \(id) is damaged; it cannot be read.") }
            // Not even its revision is known. The session's is no lower, and no tag of it was given for other content.
            let document =
                read
                ?? ServiceDocument(
                    service: names[name], birth: 0, revision: revision, createdAt: head.createdAt,
                    updatedAt: head.createdAt, bytes: [], isDamaged: true)
            documents.append(document)
        }
        documents.sort { ($0.birth, $0.service) < ($1.birth, $1.service) }
        // The order in which they were added, as long as they are kept equally long.
        replays.sort { ($0.endsAt, $0.id.text) < ($1.endsAt, $1.id.text) }
        let record = SessionRecord(
            id: id, token: head.token, createdAt: head.createdAt, expiresAt: head.expiresAt, revision: revision,
            services: documents, times: times, details: head.details,
            replays: (replays, replays.reduce(0) { $0 + $1.size }))
        found.session = StoredSession(record: record, lastUsedAt: usedAt)
        return found
    }

    struct Head {
        let token: TokenDigest
        let createdAt: Int64
        let expiresAt: Int64
        var details: SessionDetails
        /// False when the labels cannot be opened.
        let hasLabels: Bool
    }

    /// `nil` when it is damaged.
    func head(_ bytes: [UInt8], user: String?) -> Head? {
        Self.read(bytes, id, user ?? "") { format, head in
            guard let token = TokenDigest(bytes: Array(try head.raw(32))) else { return nil }
            let createdAt = try head.difference()
            let expiresAt = createdAt &+ (try head.difference())
            let flags = try head.byte()
            var details = SessionDetails(userID: user, mode: flags & Flag.cookie == 0 ? .bearer : .cookie)
            if flags & Flag.floor != 0 { details.revisionFloor = try head.number() }
            let text = try head.bytes()
            let opened = text.isEmpty || format == Self.plain ? text : open(text, named: "")
            let labels = text.isEmpty ? SessionLabels.none : opened.flatMap(SessionLabels.init(text:))
            details.labels = labels ?? .none
            details.retiredTokens = try head.retiredTokens(from: createdAt)
            if flags & Flag.exchange != 0 { details.exchange = try head.exchange(from: createdAt) }
            if flags & Flag.idleTimeout != 0 { details.idleTimeout = try head.difference() }
            return Head(
                token: token, createdAt: createdAt, expiresAt: expiresAt, details: details, hasLabels: labels != nil)
        }
    }

    private func service(_ bytes: [UInt8], named name: String) -> ServiceDocument? {
        Self.read(bytes, id, name) { format, service in
            let (birth, revision) = (try service.number(), try service.number())
            let createdAt = try service.difference()
            let updatedAt = createdAt &+ (try service.difference())
            let text = try service.bytes()
            guard let opened = format == Self.plain ? text : open(text, named: name) else { return nil }
            return ServiceDocument(
                service: names[name], birth: birth, revision: revision, createdAt: createdAt,
                updatedAt: updatedAt, bytes: opened)
        }
    }

    private func open(_ bytes: [UInt8], named name: String) -> [UInt8]? {
        keys.flatMap { SessionSeal($0, of: id).open(bytes, named: name) }
    }

    static func task(_ bytes: [UInt8]) -> StoredTask? {
        read(bytes) { format, task in
            guard format == plain, let id = TaskID(try task.text()) else { return nil }
            let name = try task.text()
            let (attempts, attempt, claimed) = (try task.count(), try task.count(), try task.number())
            let createdAt = try task.difference()
            let (endsAt, due) = (try task.difference(), try task.difference())
            let isKept = (try? task.number()) == 1
            let notice = id.isNotice ? SessionNotice(text: try task.text(), endsAt: endsAt) : nil
            let userID = id.isNotice ? nil : try? task.text()
            return StoredTask(
                id: id, name: name, attempts: attempts, createdAt: createdAt, attempt: attempt, due: due,
                isClaimed: claimed == 1, isKept: isKept, notice: notice, userID: userID)
        }
    }

    /// What `body` reads behind the format, if the checksum is right.
    static func read<Value>(
        _ bytes: [UInt8], _ session: SessionID? = nil, _ name: String = "",
        _ body: (UInt8, inout StateReader) throws -> Value?
    ) -> Value? {
        bytes.withUnsafeBytes { bytes in
            guard bytes.count > 4 else { return nil }
            let content = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 4)])
            let sum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: content.count, as: UInt32.self))
            guard sum == checksum(content, session, name) else { return nil }
            var reader = StateReader(content)
            guard let format = try? reader.byte(), format == plain || format == sealed else { return nil }
            return (try? body(format, &reader)) ?? nil
        }
    }
}
