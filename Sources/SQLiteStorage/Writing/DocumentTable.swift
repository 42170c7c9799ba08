import Sessions
import Storage

/// Writes documents that are too large for their session's row, to the table `documents`. For the writer's thread.
final class DocumentTable {
    private let write: SQLiteStatement
    private let delete: SQLiteStatement
    /// Nil when the end of the table is damaged: nothing can be added, and what would be is stored in its row.
    private var nextID: Int64?
    /// Whether pieces that are replaced or removed stay where they are, because they are on a damaged page.
    var leavesFormer = false
    /// Whether pieces have stayed that belong to no document.
    private(set) var hasLeft = false

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        write = try connection.prepare("REPLACE INTO documents (id, piece) VALUES (?1, ?2)")
        delete = try connection.prepare("DELETE FROM documents WHERE id BETWEEN ?1 AND ?2")
        do throws(SQLiteError) {
            nextID = try connection.number("SELECT max(id) FROM documents").map { $0 + 1 } ?? 1
        } catch  where error.isDamage {
            // The way to the last row is the way to the next.
            closeEnd()
        }
    }

    /// The table cannot take further rows.
    func closeEnd() { nextID = nil }

    /// Writes a document in the place of a former one that has as many pieces, or else behind all others, so that
    /// documents of one time share pages.
    ///
    /// - Returns: nil when the document has to be stored in its row.
    func put(_ document: [UInt8], over former: DocumentPieces?) throws(SQLiteError) -> DocumentPieces? {
        let count = DocumentPieces.count(for: document.count)
        var first = nextID
        if let former {
            if former.ids.count == count, !leavesFormer { first = former.first } else { try remove(former) }
        }
        guard let first else { return nil }
        let pieces = DocumentPieces(first: first, size: document.count, checksum: RowChecksum.of(document))
        for (id, part) in zip(pieces.ids, DocumentPieces.parts(of: document)) {
            try write.bind(1, id)
            try write.bind(2, blob: Array(part))
            try write.run()
        }
        nextID = nextID.map { max($0, pieces.ids.upperBound + 1) }
        return pieces
    }

    func remove(_ pieces: DocumentPieces) throws(SQLiteError) {
        if leavesFormer {
            hasLeft = true
            return
        }
        try delete.bind(1, pieces.ids.lowerBound)
        try delete.bind(2, pieces.ids.upperBound)
        try delete.run()
    }
}

/// Reads documents from their session's row or from the table `documents`.
struct PieceReader {
    private let select: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        select = try connection.prepare("SELECT piece FROM documents WHERE id BETWEEN ?1 AND ?2 ORDER BY id")
    }

    /// The document; nil when it is damaged, or was sealed for another session or service.
    ///
    /// - Parameter seal: of its session, if the row is sealed.
    func text(of service: StoredDocument, _ seal: SessionSeal?) throws(SQLiteError) -> [UInt8]? {
        let bytes = try bytes(of: service)
        return service.isSealed ? bytes.flatMap { seal?.open($0, named: service.name) } : bytes
    }

    /// As it is stored; nil when it is damaged.
    func bytes(of service: StoredDocument) throws(SQLiteError) -> [UInt8]? {
        switch service.content {
        case .inRow(let bytes): bytes
        case .beside(let pieces): try bytes(of: pieces)
        }
    }

    private func bytes(of pieces: DocumentPieces) throws(SQLiteError) -> [UInt8]? {
        try select.bind(1, pieces.ids.lowerBound)
        try select.bind(2, pieces.ids.upperBound)
        defer { select.reset() }
        var document: [UInt8] = []
        do throws(SQLiteError) {
            while document.count <= pieces.size, try select.step() { document.append(contentsOf: select.bytes(0)) }
        } catch  where error.isDamage {
            return nil
        }
        return document.count == pieces.size && RowChecksum.of(document) == pieces.checksum ? document : nil
    }
}

/// A service as it is stored in the row of its session.
struct StoredDocument {
    /// Where the bytes are.
    enum Content {
        case inRow([UInt8])
        case beside(DocumentPieces)
    }

    let name: String
    let birth: UInt64
    let revision: UInt64
    let createdAt: Int64
    let updatedAt: Int64
    var content: Content
    /// Whether the bytes are sealed (``SessionSeal``).
    var isSealed: Bool

    init(_ document: ServiceDocument, named name: String, _ content: Content, isSealed: Bool) {
        self.name = name
        birth = document.birth
        revision = document.revision
        createdAt = document.createdAt
        updatedAt = document.updatedAt
        self.content = content
        self.isSealed = isSealed
    }

    /// The size of the document, in bytes, with those of its seal.
    var size: Int {
        switch content {
        case .inRow(let bytes): bytes.count
        case .beside(let pieces): pieces.size
        }
    }

    /// - Parameter bytes: nil when they are damaged.
    func document(service: UInt16, _ bytes: [UInt8]?) -> ServiceDocument {
        ServiceDocument(
            service: service, birth: birth, revision: revision, createdAt: createdAt, updatedAt: updatedAt,
            bytes: bytes ?? [], isDamaged: bytes == nil)
    }

    // MARK: Format

    /// - Parameters:
    ///   - start: the session's creation time. Other times are near it.
    ///   - isMarked: whether the row says of each document if it is sealed.
    func write(to state: inout StateWriter, from start: Int64, isMarked: Bool) {
        state.add(name)
        state.add(birth)
        state.add(revision)
        state.add(difference: createdAt &- start)
        state.add(difference: updatedAt &- createdAt)
        func add(place: UInt64) { state.add(isMarked ? place << 1 | (isSealed ? 1 : 0) : place) }
        switch content {
        case .inRow(let bytes):
            add(place: 0)
            state.add(bytes)
        case .beside(let pieces):
            add(place: UInt64(pieces.first))
            state.add(UInt64(pieces.size))
            state.add(UInt64(pieces.checksum))
        }
    }

    init(from state: inout StateReader, start: Int64, isMarked: Bool) throws(StateReader.Malformed) {
        name = try state.text()
        birth = try state.number()
        revision = try state.number()
        createdAt = start &+ (try state.difference())
        updatedAt = createdAt &+ (try state.difference())
        let place = try state.number()
        isSealed = isMarked && place & 1 == 1
        let first = Int64(bitPattern: isMarked ? place >> 1 : place)
        guard first != 0 else {
            content = .inRow(try state.bytes())
            return
        }
        let (size, checksum) = (try state.count(), try state.number())
        guard (1..<1 << 56).contains(first), size < 1 << 40 else { throw StateReader.Malformed() }
        content = .beside(DocumentPieces(first: first, size: size, checksum: UInt32(truncatingIfNeeded: checksum)))
    }
}

/// The place of a document that is too large for its session's row: pieces with consecutive ids in the table
/// `documents`.
///
/// No other row fits on the page of a row that is longer than half a page, up to the length at which SQLite moves the
/// rest of the row to pages of its own. So documents of such lengths are cut into pieces, of which several share a
/// page: a document of 1 to 4 KB takes about a tenth more than its size.
struct DocumentPieces: Equatable {
    let first: Int64
    let size: Int
    /// CRC-32 of the whole document.
    let checksum: UInt32

    /// The longest document in a row, so that a write to another service never rewrites a large document.
    static let longestInRow = 512
    /// Six pieces share a page of 4 KiB.
    private static let piece = 664
    /// SQLite moves the rest of a longer row to pages that it fills.
    private static let longestInPieces = 4_057

    var ids: ClosedRange<Int64> { first...first + Int64(Self.count(for: size)) - 1 }

    static func count(for size: Int) -> Int { size > longestInPieces ? 1 : max(1, (size + piece - 1) / piece) }

    /// The part of the document that each row holds.
    static func parts(of document: [UInt8]) -> [ArraySlice<UInt8>] {
        guard count(for: document.count) > 1 else { return [document[...]] }
        return stride(from: 0, to: document.count, by: piece).map { document[$0..<min($0 + piece, document.count)] }
    }
}
