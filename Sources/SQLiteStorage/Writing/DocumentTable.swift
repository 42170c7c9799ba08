import CSQLite
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
