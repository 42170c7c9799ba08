/// Why a store cannot be used, in a sentence that says what to do.
package enum StoreOpeningError: Error, CustomStringConvertible, Equatable {
    /// The database belongs to another program.
    case foreign(String)
    /// There is no such file.
    case missing(String)
    /// The database is being made, or its making was interrupted.
    case unfinished(String)
    /// Another version of this program wrote the database, and its tables are others.
    case otherVersion(String, version: Int, known: Int, isUpgraded: Bool)
    /// The log beside the database belongs to another state of it, or to another database.
    case foreignLog(String)
    /// Another process uses the database.
    case inUse(String)
    /// The system has no thread left for the store.
    case noThread
    /// Documents are encrypted with a key that is not there.
    case locked(String, key: String, Lock)
    /// The path cannot be opened or written, or is not a database.
    case unusable(String, reason: String)

    /// What there is in place of the key.
    package enum Lock: Sendable, Equatable { case noKeys, missing, other }

    package var description: String {
        switch self {
        case .foreign(let path):
            "\(path) is a database of another program: name another file, or one that does not exist yet."
        case .missing(let path):
            "\(path) does not exist: either nothing was ever stored in it, or you meant another file."
        case .unfinished(let path):
            "\(path) is being made, or its making was interrupted, and nothing is stored in it: start the server on it once."
        case .otherVersion(let path, let version, let known, let isUpgraded):
            "\(path) has version \(version) of the tables, and this program needs \(known): "
                + (isUpgraded
                    ? "start the server on it once, which upgrades it."
                    : "use \(version < known ? "an older" : "a newer") program, or another file.")
        case .foreignLog(let path):
            "\(path)-wal is not the log of this state of \(path): they were copied at different moments, or one is "
                + "older. Together they would be a mixture, so nothing is started. Restore both from one moment, or a "
                + "copy made by `concierge store backup`; or move \(path)-wal away to begin with the database alone, "
                + "without the writes that were only in its own log."
        case .inUse(let path):
            "\(path) is in use by another process: end that process, or name another file."
        case .noThread: "The system has no thread left for the store: raise its limit, or end another process."
        case .locked(let path, let key, .noKeys):
            "\(path) is encrypted with the key \"\(key)\", and no keys are given: name their file in encryption_keys_file."
        case .locked(let path, let key, .missing):
            "\(path) is encrypted with the key \"\(key)\", which is not in encryption_keys_file: add it; after "
                + "`concierge store rekey` only the first key is needed."
        case .locked(let path, let key, .other):
            "\(path) is encrypted with another key \"\(key)\" than the one in encryption_keys_file: give that one, and a "
                + "new key a new name."
        case .unusable(let path, let reason):
            "\(path) cannot be used as a store: \(reason)."
        }
    }
}
