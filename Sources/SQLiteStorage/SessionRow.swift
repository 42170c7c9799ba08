import Sessions
import Storage

/// A row of the table `sessions`. SQL statements use the columns; the rest is in `state`:
///
///     format (1) · second half of the id (8 bytes) · SHA-256 of the token (32 bytes) · epoch · created_at · flags
///     [revision floor] [labels, JSON] [earlier tokens] [exchange of a token] [idle timeout] [bytes of replays]
///     services · CRC-32 (4 bytes)
///
/// Format 1 is of a store without keys. In format 2 the labels are sealed, and the place of each document is doubled,
/// with one added if the document is sealed (``SessionSeal``).
///
/// Numbers without a given length are LEB128. The checksum also covers key, revision, expires_at and user_id, but not
/// `used_at` and the two times, which change without the others.
struct SessionRow {
    static let columns = "key, revision, used_at, expires_at, user_id, state, due_at, kept_until"
    private static let (plainFormat, sealedFormat): (UInt8, UInt8) = (1, 2)

    let id: SessionID
    let token: TokenDigest
    let revision: UInt64
    let usedAt: Int64
    let createdAt: Int64
    let expiresAt: Int64
    /// In columns of their own, which ``SessionWriter`` writes only when they change.
    private(set) var times = SessionTimes.none
    /// The store's epoch when the row was written (``StoreFacts``).
    let epoch: UInt64
    /// When read, without labels: see ``openLabels(with:)``.
    var details: SessionDetails
    /// As they are stored; empty when there are none.
    private(set) var labels: [UInt8]
    /// What its rows in the table `replays` count for, some of which may have been removed since; 0 when it has none.
    let replayBytes: Int
    /// Whether the labels are sealed, and documents may be.
    private(set) var isSealed: Bool
    var services: [StoredDocument]

    init(
        _ record: SessionRecord, usedAt: Int64, epoch: UInt64, services: [StoredDocument], seal: SessionSeal?
    ) {
        id = record.id
        token = record.token
        revision = record.revision
        self.usedAt = usedAt
        createdAt = record.createdAt
        expiresAt = record.expiresAt
        self.epoch = epoch
        details = record.details
        labels = details.labels.isEmpty ? [] : details.labels.text
        replayBytes = record.replayBytes
        isSealed = false
        self.services = services
        if let seal { sealLabels(with: seal) }
    }

    /// How many documents are in the table `documents`.
    var large: Int { services.count { if case .beside = $0.content { true } else { false } } }

    /// Whether it may be in the index of journeys.
    var hasJourneys: Bool { services.contains { $0.name == CoordinatorService.name } }

    /// `SessionRecord.writtenBytes`, as far as the row tells. What was sealed with a key whose id has another length
    /// than that of the first key counts for some bytes more or less.
    func writtenBytes(_ keys: DocumentKeys?) -> Int {
        let seal = keys?.first.overhead ?? 0
        let bytes = labels.isEmpty ? 0 : labels.count - (isSealed ? seal : 0)
        return services.reduce(bytes + replayBytes) { $0 + $1.size - ($1.isSealed ? seal : 0) }
    }

    // MARK: Writing

    private enum Flag {
        static let cookie: UInt8 = 1
        static let floor: UInt8 = 2
        static let labels: UInt8 = 4
        static let retired: UInt8 = 8
        static let replays: UInt8 = 16
        static let exchange: UInt8 = 32
        static let idleTimeout: UInt8 = 64
    }

    var state: [UInt8] {
        let length = services.reduce(96) { sum, service in
            if case .inRow(let bytes) = service.content { sum + bytes.count + 48 } else { sum + 64 }
        }
        var state = StateWriter(reservingCapacity: length)
        state.add(isSealed ? Self.sealedFormat : Self.plainFormat)
        withUnsafeBytes(of: id.low.bigEndian) { state.add(raw: $0) }
        token.withBytes { state.add(raw: $0) }
        state.add(epoch)
        state.add(difference: createdAt)
        var flags: UInt8 = 0
        if details.mode == .cookie { flags |= Flag.cookie }
        if details.revisionFloor > 0 { flags |= Flag.floor }
        if !labels.isEmpty { flags |= Flag.labels }
        if !details.retiredTokens.isEmpty { flags |= Flag.retired }
        if replayBytes > 0 { flags |= Flag.replays }
        if details.exchange != nil { flags |= Flag.exchange }
        if details.idleTimeout != nil { flags |= Flag.idleTimeout }
        state.add(flags)
        if details.revisionFloor > 0 { state.add(details.revisionFloor) }
        if !labels.isEmpty { state.add(labels) }
        if !details.retiredTokens.isEmpty { state.add(details.retiredTokens, from: createdAt) }
        if let exchange = details.exchange { state.add(exchange, from: createdAt) }
        if let timeout = details.idleTimeout { state.add(difference: timeout) }
        if replayBytes > 0 { state.add(UInt64(replayBytes)) }
        state.add(UInt64(services.count))
        for service in services { service.write(to: &state, from: createdAt, isMarked: isSealed) }
        let sum = state.bytes.withUnsafeBytes {
            Self.checksum($0, key: id.key, revision: Int64(clamping: revision), expiresAt: expiresAt, details.userID)
        }
        withUnsafeBytes(of: sum.littleEndian) { state.add(raw: $0) }
        return state.bytes
    }

    /// Seals the labels of a row that ``openLabels(with:)`` has opened, or that had none sealed.
    mutating func sealLabels(with seal: SessionSeal) {
        isSealed = true
        labels = details.labels.isEmpty ? [] : seal.seal(details.labels.text, named: "")
    }

    static func checksum(
        _ state: UnsafeRawBufferPointer, key: Int64, revision: Int64, expiresAt: Int64, _ userID: String?
    ) -> UInt32 {
        var sum = RowChecksum()
        for number in [key, revision, expiresAt] { sum.add(number) }
        if var userID {
            userID.withUTF8 {
                sum.add(Int64($0.count))
                sum.add(UnsafeRawBufferPointer($0))
            }
        } else {
            sum.add(-1)
        }
        sum.add(state)
        return sum.value
    }

    // MARK: Reading

    /// Reads the current row of a statement that selects ``columns``; nil when it is damaged.
    init?(_ row: SQLiteStatement) {
        self.init(
            key: row.int64(0), revision: row.int64(1), usedAt: row.int64(2), expiresAt: row.int64(3),
            userID: row.isNull(4) ? nil : row.text(4), state: row.bytes(5))
        times = SessionTimes(row, at: 6)
    }

    /// Reads a row from the values of ``columns``; nil when it is damaged.
    init?(
        key: Int64, revision number: Int64, usedAt: Int64, expiresAt: Int64, userID: String?,
        state bytes: UnsafeRawBufferPointer
    ) {
        self.usedAt = usedAt
        self.expiresAt = expiresAt
        guard number >= 0, bytes.count > 4 else { return nil }
        revision = UInt64(number)
        let content = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 4)])
        let sum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: content.count, as: UInt32.self))
        let isSound = sum == Self.checksum(content, key: key, revision: number, expiresAt: expiresAt, userID)
        guard isSound else { return nil }
        var state = StateReader(content)
        do {
            let format = try state.byte()
            guard format == Self.plainFormat || format == Self.sealedFormat else { return nil }
            isSealed = format == Self.sealedFormat
            let low = UInt64(bigEndian: try state.raw(8).loadUnaligned(as: UInt64.self))
            id = SessionID(key: key, low: low)
            guard let digest = TokenDigest(bytes: Array(try state.raw(32))) else { return nil }
            token = digest
            epoch = try state.number()
            createdAt = try state.difference()
            let flags = try state.byte()
            var details = SessionDetails(userID: userID, mode: flags & Flag.cookie == 0 ? .bearer : .cookie)
            if flags & Flag.floor != 0 { details.revisionFloor = try state.number() }
            labels = flags & Flag.labels != 0 ? try state.bytes() : []
            if flags & Flag.retired != 0 { details.retiredTokens = try state.retiredTokens(from: createdAt) }
            if flags & Flag.exchange != 0 { details.exchange = try state.exchange(from: createdAt) }
            if flags & Flag.idleTimeout != 0 { details.idleTimeout = try state.difference() }
            self.details = details
            replayBytes = flags & Flag.replays != 0 ? try state.count() : 0
            services = []
            let count = try state.count()
            // Each document takes at least a byte, so a wrong count ends with the bytes.
            for _ in 0..<count {
                services.append(try StoredDocument(from: &state, start: createdAt, isMarked: isSealed))
            }
            guard state.isAtEnd else { return nil }
        } catch {
            return nil
        }
    }

    /// Sets the labels of ``details``; false when they are damaged, or sealed with a key that is not there.
    mutating func openLabels(with seal: SessionSeal?) -> Bool {
        guard !labels.isEmpty else { return true }
        let text = isSealed ? seal?.open(labels, named: "") : labels
        guard let opened = text.flatMap(SessionLabels.init(text:)) else { return false }
        details.labels = opened
        return true
    }
}

extension SessionTimes {
    /// Reads the columns `due_at` and `kept_until`.
    init(_ row: SQLiteStatement, at column: Int32) {
        self.init()
        if !row.isNull(column) { dueAt = row.int64(column) }
        if !row.isNull(column + 1) { keptUntil = row.int64(column + 1) }
    }

    /// Binds both to parameters.
    func bind(to statement: SQLiteStatement, _ due: Int32, _ kept: Int32) throws(SQLiteError) {
        try statement.bind(due, number: dueAt == .max ? nil : dueAt)
        try statement.bind(kept, number: keptUntil == .min ? nil : keptUntil)
    }
}

extension SessionID {
    /// The primary key: SQLite compares numbers faster than bytes. Ids grow with time, so sessions that were created
    /// one after another share pages.
    var key: Int64 { Int64(bitPattern: high ^ 1 << 63) }

    init(key: Int64, low: UInt64) { self.init(high: UInt64(bitPattern: key) ^ 1 << 63, low: low) }

    /// The second half as it is in `state`.
    var lowBytes: [UInt8] { withUnsafeBytes(of: low.bigEndian) { Array($0) } }
}
