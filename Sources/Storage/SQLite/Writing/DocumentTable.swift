/// The table `documents`, on the writer's thread: documents that are too large for their session's row.
final class DocumentTable {
    private let write: SQLiteStatement
    private let delete: SQLiteStatement
    private var nextID: Int64

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        write = try connection.prepare("REPLACE INTO documents (id, piece) VALUES (?1, ?2)")
        delete = try connection.prepare("DELETE FROM documents WHERE id BETWEEN ?1 AND ?2")
        nextID = try connection.number("SELECT max(id) FROM documents").map { $0 + 1 } ?? 1
    }

    /// Writes a document in the place of a former one, or behind all others: so those of one time share pages.
    func put(_ document: [UInt8], over former: DocumentPieces?) throws(SQLiteError) -> DocumentPieces {
        let count = DocumentPieces.count(for: document.count)
        var first = nextID
        if let former {
            if former.ids.count == count { first = former.first } else { try remove(former) }
        }
        let pieces = DocumentPieces(first: first, size: document.count, checksum: RowChecksum.of(document))
        for (id, part) in zip(pieces.ids, DocumentPieces.parts(of: document)) {
            try write.bind(1, id)
            try write.bind(2, blob: Array(part))
            try write.run()
        }
        nextID = max(nextID, pieces.ids.upperBound + 1)
        return pieces
    }

    func remove(_ pieces: DocumentPieces) throws(SQLiteError) {
        try delete.bind(1, pieces.ids.lowerBound)
        try delete.bind(2, pieces.ids.upperBound)
        try delete.run()
    }
}
