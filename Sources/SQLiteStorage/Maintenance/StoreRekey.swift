import Glibc
import Sessions
import Storage

/// Seals everything in a database with the first of the keys: what is not encrypted yet, and what another key has
/// sealed. Afterwards no other key is needed. No server may use the database.
///
/// Each transaction rewrites some sessions, which takes little memory. After an interruption at any point the database
/// is whole and needs the same keys as before; another run passes over what is done.
package struct StoreRekey {
    package private(set) var sessions = 0
    /// Documents that were sealed anew.
    package private(set) var documents = 0
    /// Damaged parts, which stay as they are.
    package private(set) var damaged = 0

    private static let batchBytes = 4 << 20

    /// - Parameters:
    ///   - batch: the most sessions in one transaction.
    ///   - tell: gets damage as sentences.
    ///   - step: is called after each transaction. For tests, which look at the files as a kill there would leave them.
    /// - Throws: ``StoreOpeningError``.
    package init(
        _ path: String, keys: DocumentKeys, batch: Int = 500, tell: @escaping @Sendable (String) -> Void,
        step: () throws -> Void = {}
    ) throws {
        let log = try StoreFile(path).log
        let lock = try FileLock(on: path, makesFile: false)
        defer { lock.release() }
        try log.require(path)
        do {
            let connection = try SQLiteConnection(path, .write, under: lock)
            try UsedKeys.check(connection, path, against: keys)
            // Overwrites what is deleted. FULL: what comes later relies on what came before.
            try connection.execute("PRAGMA secure_delete = ON; PRAGMA synchronous = FULL")
            try connection.markOpening()
            try UsedKeys.note(keys.first, connection)
            try step()
            let damage = DamageCount(report: tell)
            try sealAll(connection, keys, batch, damage, step)
            // What was deleted before: by servers, which do not overwrite.
            try connection.rewrite()
            try step()
            try connection.emptyLog(of: path)
            // The spare room behind the last page has bytes of former pages.
            FileRoom.releaseSpare(of: lock.descriptor)
            guard fsync(lock.descriptor) == 0 else {
                throw StoreOpeningError.unusable(path, reason: String(cString: strerror(errno)))
            }
            try step()
            try UsedKeys.forgetAll(except: keys.first, connection)
            damaged = damage.damage.rows
        } catch let error as SQLiteError {
            throw StoreOpeningError.unusable(path, reason: error.description)
        }
    }

    private mutating func sealAll(
        _ connection: SQLiteConnection, _ keys: DocumentKeys, _ batch: Int, _ damage: DamageCount,
        _ step: () throws -> Void
    ) throws {
        let select = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key > ?1 ORDER BY key")
        let update = try connection.prepare("UPDATE sessions SET state = ?2 WHERE key = ?1")
        let (reader, table) = (try PieceReader(connection), try DocumentTable(connection))
        var last: Int64?
        repeat {
            var (changed, bytes) = ([SealedRow](), 0)
            // Read before the transaction: SQLite refuses writes in a transaction that has met a damaged page.
            let walk = try KeyWalk(select, after: last, limit: batch, damage) { (row) throws(SQLiteError) in
                guard let row = SessionRow(row) else {
                    damage.note("The row of the session with the key \(row.int64(0)) is damaged and stays as it is.")
                    return .damaged
                }
                let sealed = try SealedRow(row, keys, reader, damage)
                bytes += sealed.size
                if sealed.isChanged { changed.append(sealed) }
                return bytes < Self.batchBytes ? .sound : .last
            }
            last = walk.last
            sessions += walk.rows
            guard !changed.isEmpty else { continue }
            try connection.transaction { () throws(SQLiteError) in
                for sealed in changed {
                    try update.bind(1, sealed.row.id.key)
                    try update.bind(2, blob: try sealed.stored(in: table))
                    try update.run()
                }
            }
            documents += changed.reduce(0) { $0 + $1.documents.count }
            try step()
        } while last != nil
    }
}

/// A row, and all of it that has to be sealed with the first of the keys.
private struct SealedRow {
    private(set) var row: SessionRow
    /// The sealed documents, by their places in the row.
    private(set) var documents: [Int: [UInt8]] = [:]
    private(set) var isChanged = false

    init(
        _ row: SessionRow, _ keys: DocumentKeys, _ reader: PieceReader, _ damage: DamageCount
    ) throws(SQLiteError) {
        self.row = row
        let seal = SessionSeal(keys, of: row.id)
        if !row.isSealed || !(row.labels.isEmpty || seal.isCurrent(row.labels)) {
            guard self.row.openLabels(with: seal) else {
                damage.note("The labels of \(row.id) are damaged; the row stays as it is.")
                return
            }
            self.row.sealLabels(with: seal)
            isChanged = true
        }
        for (place, service) in row.services.enumerated() {
            if service.isSealed, let bytes = try reader.bytes(of: service), seal.isCurrent(bytes) { continue }
            guard let text = try reader.text(of: service, seal) else {
                damage.note("The service \(service.name) of \(row.id) is damaged and stays as it is.")
                continue
            }
            documents[place] = seal.seal(text, named: service.name)
            isChanged = true
        }
    }

    var size: Int { documents.values.reduce(0) { $0 + $1.count } }

    /// Writes the large documents.
    ///
    /// - Returns: the state of the row.
    func stored(in table: DocumentTable) throws(SQLiteError) -> [UInt8] {
        var row = row
        for (place, bytes) in documents {
            switch row.services[place].content {
            case .inRow: row.services[place].content = .inRow(bytes)
            case .beside(let pieces):
                let new = try table.put(bytes, over: pieces)
                row.services[place].content = new.map { .beside($0) } ?? .inRow(bytes)
            }
            row.services[place].isSealed = true
        }
        return row.state
    }
}
