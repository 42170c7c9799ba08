import CSQLite

#if PLANTED_BUGS
    import Sessions
#endif

/// Reads documents that may lie beside the row of their session.
struct PieceReader {
    private let select: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        select = try connection.prepare("SELECT piece FROM documents WHERE id BETWEEN ?1 AND ?2 ORDER BY id")
    }

    /// Nil when it is damaged.
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
        } catch  where error.primaryCode == SQLITE_CORRUPT {
            return nil
        }
        #if PLANTED_BUGS
            if PlantedBug.piecesMixed.isActive { return document }
        #endif
        return document.count == pieces.size && RowChecksum.of(document) == pieces.checksum ? document : nil
    }
}
