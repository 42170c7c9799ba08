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
    /// The bytes of a page without those that are reserved at its end.
    let usable: Int
    /// The number of the last page.
    let count: UInt32
    /// Nil when page 1 is damaged.
    let header: DatabaseHeader?
    /// Whether the log is the one that the database needs.
    let standing: LogStanding
    /// Pages with a flipped bit that was set right.
    private(set) var corrected: Set<UInt32> = []
    private let file: Int32
    /// Negative when there is none.
    private let log: Int32
    /// The offset in the log of the newest committed version of each page.
    private let logged: [UInt32: off_t]
    private let hasChecksums: Bool

    /// - Throws: ``StoreOpeningError`` when the log cannot be read.
    init(_ lock: FileLock, of path: String) throws(StoreOpeningError) {
        file = lock.descriptor
        let inspection = try LogInspection(of: path)
        standing = LogStanding(try LogMark(of: file, path), inspection)
        log = open(lock.logPath, O_RDONLY | O_CLOEXEC)
        // Without a log that it needs the database alone is of one state.
        let content = standing.isOfUse ? inspection.content : nil
        var logged: [UInt32: off_t] = [:]
        for (frame, page) in (content?.pages ?? []).enumerated() {
            logged[page] = off_t(
                LogInspection.headerSize + frame * LogInspection.frameSize + LogInspection.frameHeaderSize)
        }
        self.logged = logged
        let (header, isCorrected) = Self.header(file, log, logged[1])
        self.header = header
        var status = stat()
        let inDatabase =
            fstat(file, &status) == 0
            ? min(UInt32(clamping: Int(status.st_size) / SQLiteSchema.pageSize), .max - 1) : 0
        if let content, content.pageCount > 0 {
            count = content.pageCount
        } else {
            count = min(header?.pageCount ?? inDatabase, inDatabase)
        }
        let reserved = header?.reserved ?? Self.reserved(file, inDatabase)
        usable = SQLiteSchema.pageSize - reserved
        hasChecksums = reserved == Int(CPAGECHECKSUMS_BYTES)
        if isCorrected { corrected.insert(1) }
    }

    deinit { if log >= 0 { close(log) } }

    /// Page 1 has to match its checksum before anything in it is believed.
    private static func header(_ file: Int32, _ log: Int32, _ place: off_t?) -> (DatabaseHeader?, isCorrected: Bool) {
        var page = [UInt8](repeating: 0, count: SQLiteSchema.pageSize)
        if let place { return (fill(&page, log, place) ? DatabaseHeader(page) : nil, false) }
        guard fill(&page, file, 0) else { return (nil, false) }
        clearReserved(&page)
        let asRead = DatabaseHeader(page)
        let verdict = PageChecksum.check(&page, number: 1)
        if verdict != .damaged, let checked = DatabaseHeader(page), checked.reserved == Int(CPAGECHECKSUMS_BYTES) {
            return (checked, verdict == .corrected)
        }
        // Pages that reserve another number of bytes have no checksums.
        return (asRead?.reserved == Int(CPAGECHECKSUMS_BYTES) ? nil : asRead, false)
    }

    /// To SQLite and to checksums the last bytes of the header are zeros, whatever the file says there.
    private static func clearReserved(_ page: inout [UInt8]) { for place in 72..<92 { page[place] = 0 } }

    /// How many bytes each page reserves, when page 1 does not say it: files of ours without checksums reserve none.
    private static func reserved(_ file: Int32, _ count: UInt32) -> Int {
        var page = [UInt8](repeating: 0, count: SQLiteSchema.pageSize)
        let isChecked = (2...max(2, min(count, 64))).contains { number in
            fill(&page, file, place(of: number))
                && page.suffix(Int(CPAGECHECKSUMS_BYTES)).contains { $0 != 0 }
                && PageChecksum.check(&page, number: number) == .matches
        }
        return isChecked ? Int(CPAGECHECKSUMS_BYTES) : 0
    }

    /// Nil for a page that does not exist, or that the disk does not give.
    func page(_ number: UInt32) -> DatabasePage? {
        guard number > 0, number <= count else { return nil }
        var bytes = [UInt8](repeating: 0, count: SQLiteSchema.pageSize)
        if let place = logged[number] {
            return Self.fill(&bytes, log, place) ? DatabasePage(number: number, bytes: bytes, isSound: true) : nil
        }
        guard Self.fill(&bytes, file, Self.place(of: number)) else { return nil }
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

    private static func place(of page: UInt32) -> off_t { off_t(page - 1) * off_t(SQLiteSchema.pageSize) }

    private static func fill(_ bytes: inout [UInt8], _ file: Int32, _ place: off_t) -> Bool {
        (try? LogInspection.read(file, &bytes, at: Int(place))) == bytes.count
    }
}

/// The header of a database, the first bytes of page 1: <https://www.sqlite.org/fileformat2.html#the_database_header>.
struct DatabaseHeader {
    static let size = 100

    let reserved: Int
    let pageCount: UInt32
    let firstFreePage: UInt32
    let freePages: UInt32
    let hasPointerMaps: Bool
    let version: Int64
    let applicationID: Int64

    /// Nil when these bytes are not such a header.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.size, bytes.starts(with: "SQLite format 3\0".utf8),
            Int(bytes[16]) << 8 | Int(bytes[17]) == SQLiteSchema.pageSize
        else { return nil }
        reserved = Int(bytes[20])
        pageCount = bytes.word(28)
        firstFreePage = bytes.word(32)
        freePages = bytes.word(36)
        hasPointerMaps = bytes.word(52) != 0
        version = Int64(bytes.word(60))
        applicationID = Int64(bytes.word(68))
    }
}

/// Compares a page with its checksum.
enum PageChecksum {
    case matches
    /// A bit had flipped, and is as it was again.
    case corrected
    case damaged

    /// CRC-32 tells up to three flipped bits in a page from none, so it also tells which one
    /// has flipped if it is one alone.
    static func check(_ page: inout [UInt8], number: UInt32) -> PageChecksum {
        let content = page.count - Int(CPAGECHECKSUMS_BYTES)
        let stored = page.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: content, as: UInt32.self))
        }
        // Another program wrote the page, or none ever did.
        guard stored != 0 else { return .matches }
        let difference = cpagechecksums_of(page, number) ^ stored
        guard difference != 0 else { return .matches }
        // A bit of the checksum itself.
        if difference.nonzeroBitCount == 1 { return .corrected }
        guard let bit = Self.bit(behind: difference, of: content * 8) else { return .damaged }
        page[bit >> 3] ^= 1 << UInt8(bit & 7)
        return cpagechecksums_of(page, number) == stored ? .corrected : .damaged
    }

    /// The bit whose flip changes the checksum by this difference. A flip of the last bit changes it by the polynomial;
    /// of each bit before, by what one more step of the division makes of that.
    private static func bit(behind difference: UInt32, of bits: Int) -> Int? {
        var change = polynomial
        for bit in stride(from: bits - 1, through: 0, by: -1) {
            if change == difference { return bit }
            change = change >> 1 ^ (change & 1 == 0 ? 0 : polynomial)
        }
        return nil
    }

    private static let polynomial: UInt32 = 0xEDB8_8320
}
