import JSONDocument
import Sessions

/// A row of the table `sessions`, in the form that the columns have.
struct SessionRow {
    static let columns =
        "id, token, revision, created_at, expires_at, used_at, mode, user_id, labels, retired, checksum"

    let id: SessionID
    let token: [UInt8]
    var revision: Int64
    let createdAt: Int64
    let expiresAt: Int64
    let usedAt: Int64
    let mode: String
    let userID: String?
    let labels: [UInt8]?
    let retired: [UInt8]?

    init(_ record: SessionRecord, usedAt: Int64) {
        id = record.id
        token = record.token.bytes
        // SQLite has no unsigned numbers. A session would have to be written to for millions of years.
        revision = Int64(clamping: record.revision)
        createdAt = record.createdAt
        expiresAt = record.expiresAt
        self.usedAt = usedAt
        let details = record.details
        mode = details.mode.rawValue
        userID = details.userID
        labels = details.labels.isEmpty ? nil : Self.text(of: details.labels)
        retired = details.retiredTokens.isEmpty ? nil : Self.bytes(of: details.retiredTokens)
    }

    /// The row that a statement stands on, which selected ``columns``; nil when it is damaged.
    init?(_ row: SQLiteStatement) {
        guard let id = SessionID(bytes: row.bytes(0)) else { return nil }
        self.id = id
        token = Array(row.bytes(1))
        revision = row.int64(2)
        createdAt = row.int64(3)
        expiresAt = row.int64(4)
        usedAt = row.int64(5)
        mode = row.text(6)
        userID = row.isNull(7) ? nil : row.text(7)
        labels = row.isNull(8) ? nil : Array(row.bytes(8))
        retired = row.isNull(9) ? nil : Array(row.bytes(9))
        guard checksum == row.int64(10) else { return nil }
    }

    var checksum: Int64 {
        var sum = RowChecksum()
        id.withBytes { sum.add($0) }
        token.withUnsafeBytes { sum.add($0) }
        for number in [revision, createdAt, expiresAt] { sum.add(number) }
        for text in [mode, userID] {
            // As a column that is NULL differs from one that is empty.
            guard var text else {
                sum.add(-1)
                continue
            }
            text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
        }
        for bytes in [labels, retired] {
            guard let bytes else {
                sum.add(-1)
                continue
            }
            bytes.withUnsafeBytes { sum.add($0) }
        }
        return sum.value
    }

    /// The session, with its services; nil when a column says what this program never writes.
    func stored(with services: [ServiceDocument]) -> StoredSession? {
        guard let digest = TokenDigest(bytes: token), let mode = SessionMode(rawValue: mode), revision >= 0,
            let labels = labels.map(Self.labels) ?? SessionLabels.none,
            let retired = retired.map(Self.retiredTokens) ?? []
        else { return nil }
        let details = SessionDetails(labels: labels, userID: userID, retiredTokens: retired, mode: mode)
        let record = SessionRecord(
            id: id, token: digest, createdAt: createdAt, expiresAt: expiresAt, revision: UInt64(revision),
            services: services, details: details)
        return StoredSession(record: record, lastUsedAt: usedAt)
    }

    // MARK: Columns that hold several things

    private static func text(of labels: SessionLabels) -> [UInt8] {
        JSONDocument(members: labels.items.lazy.map { (name: $0.name, value: JSONDocument($0.value)) }).serialized()
    }

    private static func labels(_ text: [UInt8]) -> SessionLabels? {
        guard let members = (try? JSONDocument(parsing: text))?.members else { return nil }
        var labels: [String: String] = [:]
        for (name, value) in members {
            guard let value = value.string else { return nil }
            labels[name] = value
        }
        return SessionLabels(labels)
    }

    /// A digest and three times.
    private static let retiredTokenSize = 32 + 3 * 8

    private static func bytes(of tokens: [RetiredToken]) -> [UInt8] {
        tokens.flatMap { token in
            token.digest.bytes + [token.givenAt, token.retiredAt, token.graceEndsAt].flatMap(bytes(of:))
        }
    }

    private static func retiredTokens(_ bytes: [UInt8]) -> [RetiredToken]? {
        guard bytes.count.isMultiple(of: retiredTokenSize) else { return nil }
        var tokens: [RetiredToken] = []
        for start in stride(from: 0, to: bytes.count, by: retiredTokenSize) {
            guard let digest = TokenDigest(bytes: bytes[start..<start + 32]) else { return nil }
            let times = (0..<3).map { number(bytes[(start + 32 + 8 * $0)...].prefix(8)) }
            tokens.append(
                RetiredToken(digest: digest, givenAt: times[0], retiredAt: times[1], grace: times[2] &- times[1]))
        }
        return tokens
    }

    /// Big-endian.
    private static func bytes(of number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }
}

extension SessionID {
    /// The column `key`, by which a session is found: comparing numbers is much cheaper than comparing bytes. Ids are
    /// of chance in their first half: that two agree there is as likely as guessing one of 2^64, and the second is then
    /// refused like one that is there.
    var key: Int64 { Int64(bitPattern: high ^ 1 << 63) }

    /// The 16 bytes of the column `id`.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var words = (high.bigEndian, low.bigEndian)
        return try withUnsafeBytes(of: &words) { bytes throws(Failure) in try body(bytes) }
    }

    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}
