import Sessions

/// A row of the table `services`.
struct ServiceRow {
    static let columns = "name, birth, revision, created_at, updated_at, document, checksum"

    let session: SessionID
    let name: String
    let birth: Int64
    let revision: Int64
    let createdAt: Int64
    let updatedAt: Int64
    let document: [UInt8]

    init(_ document: ServiceDocument, named name: String, of session: SessionID) {
        self.session = session
        self.name = name
        birth = Int64(clamping: document.birth)
        revision = Int64(clamping: document.revision)
        createdAt = document.createdAt
        updatedAt = document.updatedAt
        self.document = document.bytes
    }

    /// The row that a statement stands on, which selected ``columns`` of that session; nil when it is damaged.
    init?(_ row: SQLiteStatement, of session: SessionID) {
        self.session = session
        name = row.text(0)
        birth = row.int64(1)
        revision = row.int64(2)
        createdAt = row.int64(3)
        updatedAt = row.int64(4)
        document = Array(row.bytes(5))
        #if PLANTED_BUGS
            if PlantedBug.uncheckedRows.isActive, birth >= 0, revision >= 0 { return }
        #endif
        guard checksum == row.int64(6), birth >= 0, revision >= 0 else { return nil }
    }

    var checksum: Int64 {
        var sum = RowChecksum()
        session.withBytes { sum.add($0) }
        var name = name
        name.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
        for number in [birth, revision, createdAt, updatedAt] { sum.add(number) }
        document.withUnsafeBytes { sum.add($0) }
        return sum.value
    }

    /// The session's key, then ``columns``, from the first parameter on.
    func bind(to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(1, session.key)
        try statement.bind(2, name)
        try statement.bind(3, birth)
        try statement.bind(4, revision)
        try statement.bind(5, createdAt)
        try statement.bind(6, updatedAt)
        try statement.bind(7, text: document)
        try statement.bind(8, checksum)
    }

    /// The document, as that of the service with this place in the catalogue.
    func document(service: UInt16) -> ServiceDocument {
        ServiceDocument(
            service: service, birth: UInt64(birth), revision: UInt64(revision), createdAt: createdAt,
            updatedAt: updatedAt, bytes: document)
    }
}
