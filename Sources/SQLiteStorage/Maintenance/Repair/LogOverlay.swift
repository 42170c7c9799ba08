import Glibc
import Storage

/// The committed pages in a log (<https://www.sqlite.org/fileformat2.html#the_write_ahead_log>). They take the place of
/// the database's.
struct LogOverlay {
    let file: Int32
    /// The offset of the newest committed version of each page.
    private(set) var places: [UInt32: off_t] = [:]
    /// The pages of the database after the last commit; nil when there is none.
    private(set) var pageCount: UInt32?
    /// Whether it is the log that the database needs.
    let standing: LogStanding

    /// - Parameters:
    ///   - log: the log of a database with pages of this size; negative when there is none.
    ///   - path: of the database.
    ///   - mark: what the database says of its log.
    /// - Throws: ``StoreOpeningError`` when the log cannot be read.
    init(_ log: Int32, of path: String, mark: LogMark?, pageSize: Int) throws(StoreOpeningError) {
        file = log
        let inspection = try LogInspection(of: path, pageSize: pageSize)
        standing = LogStanding(mark, inspection)
        // The database alone is of one state.
        guard standing.isOfUse else { return }
        var head = [UInt8](repeating: 0, count: LogInspection.frameHeaderSize)
        let size = head.count + pageSize
        for frame in 0..<(inspection.content?.frames ?? 0) {
            let place = off_t(LogInspection.headerSize + frame * size)
            guard DatabasePages.fill(&head, log, place) else { return }
            head.withUnsafeBytes { bytes in
                places[bytes.word(0)] = place + off_t(bytes.count)
                // 0 in frames that end no transaction.
                if bytes.word(4) > 0 { pageCount = bytes.word(4) }
            }
        }
    }

    /// The page size that a log has in its header; nil when that is damaged, or there is no log.
    static func pageSize(of log: Int32) -> Int? {
        var head = [UInt8](repeating: 0, count: LogInspection.headerSize)
        guard log >= 0, DatabasePages.fill(&head, log, 0) else { return nil }
        return head.withUnsafeBytes { bytes in
            let size = Int(bytes.word(8))
            return bytes.word(0) & ~1 == 0x377F_0682 && (512...65_536).contains(size) && size & (size - 1) == 0
                ? size : nil
        }
    }
}
