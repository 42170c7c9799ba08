import Storage

/// The keys that something in a database may be sealed with: rows `key:<id>` of the table `facts`, each with the key's
/// fingerprint. A store without one of these keys would take documents for damaged, so it is not opened.
enum UsedKeys {
    /// - Throws: ``StoreOpeningError``, `SQLiteError`.
    static func check(_ connection: SQLiteConnection, _ path: String, against keys: DocumentKeys?) throws {
        let rows = try connection.prepare("SELECT substr(name, 5), value FROM facts WHERE name GLOB 'key:*'")
        while try rows.step() {
            let id = rows.text(0)
            guard let keys else { throw StoreOpeningError.locked(path, key: id, .noKeys) }
            guard let key = keys[id] else { throw StoreOpeningError.locked(path, key: id, .missing) }
            guard key.fingerprint == rows.int64(1) else { throw StoreOpeningError.locked(path, key: id, .other) }
        }
    }

    /// Has to be on the disk before anything that the key has sealed.
    static func note(_ key: DocumentKeys.Key, _ connection: SQLiteConnection) throws(SQLiteError) {
        let name = "key:\(key.id)"
        let rows = try connection.prepare("SELECT value FROM facts WHERE name = ?1")
        try rows.bind(1, name)
        let isNoted = try rows.step()
        rows.reset()
        guard !isNoted else { return }
        let write = try connection.prepare("INSERT INTO facts VALUES (?1, ?2)")
        try write.bind(1, name)
        try write.bind(2, key.fingerprint)
        try write.run()
    }

    /// The facts were lost: any of the keys may be needed.
    static func noteAll(of keys: DocumentKeys?, _ connection: SQLiteConnection) throws(SQLiteError) {
        for key in keys?.all ?? [] { try note(key, connection) }
    }

    /// When nothing is sealed with another key any more.
    static func forgetAll(except key: DocumentKeys.Key, _ connection: SQLiteConnection) throws(SQLiteError) {
        let delete = try connection.prepare("DELETE FROM facts WHERE name GLOB 'key:*' AND name <> ?1")
        try delete.bind(1, "key:\(key.id)")
        try delete.run()
    }
}
