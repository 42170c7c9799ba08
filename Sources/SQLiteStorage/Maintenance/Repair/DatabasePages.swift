import CPageChecksums
import Glibc
import Storage

/// One page of a database, as its last commit has left it.
struct DatabasePage {
    let number: UInt32
    let bytes: [UInt8]
    /// Whether every byte is as it was written. A page without a checksum counts as sound, unless it is empty: no page
    /// that holds anything is.
    let isSound: Bool
}

/// The pages of a database, read without SQLite: a page that SQLite cannot use hides no other. The database is only
/// read.
///
/// Committed frames of the log take the place of pages. They have SQLite's checksum; pages of the database have ours
/// (`CPageChecksums`), which also sets a single flipped bit right.
final class DatabasePages {
    let pageSize: Int
    /// The bytes of a page without those that are reserved at its end.
    let usable: Int
    /// The number of the last page.
    let count: UInt32
    /// Nil when page 1 is damaged.
    let header: DatabaseHeader?
    let log: LogOverlay
    /// Pages with a flipped bit that was set right.
    private(set) var corrected: Set<UInt32> = []
    private let file: Int32
    private let hasChecksums: Bool

    /// - Parameters:
    ///   - file: the database.
    ///   - log: its log; negative when there is none.
    ///   - path: of the database.
    /// - Throws: ``StoreOpeningError`` when the log cannot be read.
    init(_ file: Int32, log: Int32, of path: String) throws(StoreOpeningError) {
        self.file = file
        var head = [UInt8](repeating: 0, count: DatabaseHeader.size)
        _ = Self.fill(&head, file, 0)
        // The size of a page is in page 1, or in the log. If both are damaged it is SQLite's default, which no program
        // of ours has ever changed.
        let inFile = head.withUnsafeBytes { DatabaseHeader($0) }
        let sizes = [inFile?.pageSize, LogOverlay.pageSize(of: log), Self.defaultPageSize].compactMap(\.self)
        let mark = try LogMark(of: file, path)
        var (size, header) = (Self.defaultPageSize, DatabaseHeader?.none)
        var overlay = try LogOverlay(log, of: path, mark: mark, pageSize: size)
        var isCorrected = false
        for candidate in sizes where header == nil {
            if candidate != size { overlay = try LogOverlay(log, of: path, mark: mark, pageSize: candidate) }
            size = candidate
            (header, isCorrected) = Self.header(file, log, overlay, size)
        }
        pageSize = size
        self.header = header
        self.log = overlay
        var status = stat()
        let inDatabase = fstat(file, &status) == 0 ? min(UInt32(clamping: Int(status.st_size) / size), .max - 1) : 0
        count = overlay.pageCount ?? (header?.pageCount).map { min($0, inDatabase) } ?? inDatabase
        let reserved = header?.reserved ?? Self.reserved(file, size, inDatabase)
        usable = size - reserved
        hasChecksums = reserved == Int(CPAGECHECKSUMS_BYTES)
        if isCorrected { corrected.insert(1) }
    }

    private static let defaultPageSize = 4_096

    /// Page 1 has to match its checksum before anything in it is believed.
    private static func header(
        _ file: Int32, _ log: Int32, _ overlay: LogOverlay, _ size: Int
    ) -> (DatabaseHeader?, isCorrected: Bool) {
        var page = [UInt8](repeating: 0, count: size)
        if let place = overlay.places[1] {
            return fill(&page, log, place) ? (page.withUnsafeBytes { DatabaseHeader($0) }, false) : (nil, false)
        }
        guard fill(&page, file, 0) else { return (nil, false) }
        clearReserved(&page)
        let asRead = page.withUnsafeBytes { DatabaseHeader($0) }
        let verdict = PageChecksum.check(&page, number: 1)
        let checked = page.withUnsafeBytes { DatabaseHeader($0) }
        if verdict != .damaged, let checked, checked.pageSize == size, checked.reserved == Int(CPAGECHECKSUMS_BYTES) {
            return (checked, verdict == .corrected)
        }
        // Pages that reserve another number of bytes have no checksums.
        guard let asRead, asRead.pageSize == size, asRead.reserved != Int(CPAGECHECKSUMS_BYTES) else {
            return (nil, false)
        }
        return (asRead, false)
    }

    /// To SQLite and to checksums the last bytes of the header are zeros, whatever the file says there.
    private static func clearReserved(_ page: inout [UInt8]) { for place in 72..<92 { page[place] = 0 } }

    /// How many bytes each page reserves, when page 1 does not say it: files of ours without checksums reserve none.
    private static func reserved(_ file: Int32, _ size: Int, _ count: UInt32) -> Int {
        var page = [UInt8](repeating: 0, count: size)
        let isChecked = (2...max(2, min(count, 64))).contains { number in
            fill(&page, file, off_t(number - 1) * off_t(size))
                && page.suffix(Int(CPAGECHECKSUMS_BYTES)).contains { $0 != 0 }
                && PageChecksum.check(&page, number: number) == .matches
        }
        return isChecked ? Int(CPAGECHECKSUMS_BYTES) : 0
    }

    /// Nil for a page that does not exist, or that the disk does not give.
    func page(_ number: UInt32) -> DatabasePage? {
        guard number > 0, number <= count else { return nil }
        var bytes = [UInt8](repeating: 0, count: pageSize)
        if let place = log.places[number] {
            return Self.fill(&bytes, log.file, place) ? DatabasePage(number: number, bytes: bytes, isSound: true) : nil
        }
        guard Self.fill(&bytes, file, off_t(number - 1) * off_t(pageSize)) else { return nil }
        if number == 1 { Self.clearReserved(&bytes) }
        var isSound = bytes.contains { $0 != 0 }
        if hasChecksums {
            switch PageChecksum.check(&bytes, number: number) {
            case .matches: break
            case .corrected: corrected.insert(number)
            case .damaged: isSound = false
            }
        }
        return DatabasePage(number: number, bytes: bytes, isSound: isSound)
    }

    /// An error of the disk may pass, so a read that fails is done a second time.
    static func fill(_ bytes: inout [UInt8], _ file: Int32, _ place: off_t) -> Bool {
        let count = bytes.count
        return bytes.withUnsafeMutableBytes { buffer in
            pread(file, buffer.baseAddress, count, place) == count
                || pread(file, buffer.baseAddress, count, place) == count
        }
    }
}

/// The header of a database, the first bytes of page 1: <https://www.sqlite.org/fileformat2.html#the_database_header>.
struct DatabaseHeader {
    static let size = 100

    let pageSize: Int
    let reserved: Int
    let pageCount: UInt32
    let firstFreePage: UInt32
    let freePages: UInt32
    let hasPointerMaps: Bool
    let version: Int64
    let applicationID: Int64

    /// Nil when these bytes are not such a header.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size, bytes.starts(with: "SQLite format 3\0".utf8) else { return nil }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        // 65,536 does not fit and is written as 1.
        pageSize = size == 1 ? 65_536 : size
        reserved = Int(bytes[20])
        guard pageSize >= 512, pageSize & (pageSize - 1) == 0, reserved <= pageSize - 480 else { return nil }
        pageCount = bytes.word(28)
        firstFreePage = bytes.word(32)
        freePages = bytes.word(36)
        hasPointerMaps = bytes.word(52) != 0
        version = Int64(bytes.word(60))
        applicationID = Int64(bytes.word(68))
    }
}
