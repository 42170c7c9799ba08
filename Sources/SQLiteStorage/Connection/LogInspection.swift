import Glibc
import Storage

/// An inspection of the log that a process has left, before SQLite reads it.
///
/// SQLite treats the first frame that fails its checksum as the end of the log
/// (<https://www.sqlite.org/fileformat2.html#the_write_ahead_log>). After a power cut that is right: each transaction
/// is synced before the next one begins, so only the last one may be incomplete. But damage further in front silently
/// takes every acknowledged commit behind it away. The proof of that lies behind the damage: frames of the same round
/// of the log that match the checksum of the frame before them, among them the end of a transaction with another one
/// after it.
struct LogInspection {
    enum Finding: Equatable {
        case sound
        /// The last transaction is incomplete, as after a power cut, or damaged.
        case torn
        /// Transactions behind this frame were written and cannot be read.
        case damaged(frame: Int)
    }

    /// What SQLite reads from a log.
    struct Content: Equatable {
        let round: LogRound
        /// The frames up to the end of the last whole transaction.
        let frames: Int
    }

    let finding: Finding
    /// Nil when there is no log, or its header is damaged.
    let content: Content?

    /// - Parameters:
    ///   - database: the path of the database beside the log. A missing log is sound.
    ///   - pageSize: nil to read it from the database, which drops locks that SQLite holds for this process.
    /// - Throws: ``StoreOpeningError`` when the log cannot be read: nothing is known of it then.
    init(of database: String, pageSize: Int? = nil) throws(StoreOpeningError) {
        do throws(Unreadable) {
            let log = try Self.opened(FileLock.realPath(of: database) + "-wal")
            defer { if log >= 0 { close(log) } }
            var size = pageSize ?? 0
            if pageSize == nil { size = try Self.pageSize(of: database) }
            (finding, content) = log >= 0 ? try Self.inspect(log, pageSize: size) : (.sound, nil)
        } catch {
            let why = String(cString: strerror(error.code))
            throw .unusable(database, reason: "its log cannot be read (\(why)): start again, and look at the disk")
        }
    }

    /// How many frames of a round the log has.
    func framesOf(_ round: LogRound?) -> Int { content.map { $0.round == round ? $0.frames : 0 } ?? 0 }

    /// The log's header has it as well, but may be damaged. 0 when there is no database.
    private static func pageSize(of database: String) throws(Unreadable) -> Int {
        let file = try opened(database)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var head = [UInt8](repeating: 0, count: 18)
        guard try read(file, &head, at: 0) == head.count else { return 0 }
        let size = Int(head[16]) << 8 | Int(head[17])
        // 1 stands for 65,536.
        return size == 1 ? 65_536 : size
    }

    /// The value of `errno`.
    private struct Unreadable: Error { let code: Int32 }

    /// Negative when there is no such file.
    private static func opened(_ path: String) throws(Unreadable) -> Int32 {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 || errno == ENOENT else { throw Unreadable(code: errno) }
        return file
    }

    /// Reads as many bytes as there are and fit. An error may pass, so it reads again after one.
    private static func read(_ file: Int32, _ bytes: inout [UInt8], at place: Int) throws(Unreadable) -> Int {
        var code: Int32 = 0
        for _ in 0..<3 {
            let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(place)) }
            if count >= 0 { return count }
            code = errno
        }
        throw Unreadable(code: code)
    }

    static let headerSize = 32
    static let frameHeaderSize = 24

    private static func inspect(_ file: Int32, pageSize: Int) throws(Unreadable) -> (Finding, Content?) {
        var header = [UInt8](repeating: 0, count: headerSize + frameHeaderSize)
        guard try read(file, &header, at: 0) == header.count else { return (.sound, nil) }
        // The database's header may be damaged.
        let pageSize = isPageSize(pageSize) ? pageSize : Int(word(header, 8))
        guard isPageSize(pageSize) else { return (.sound, nil) }
        let isBigEndian = word(header, 0) & 1 == 1
        var sum = LogChecksum(isBigEndian: isBigEndian)
        header.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[..<24])) }
        let stored = LogChecksum(isBigEndian: isBigEndian, (word(header, 24), word(header, 28)))
        let isSound = word(header, 0) & ~1 == 0x377F_0682 && sum == stored
        // With a damaged header SQLite reads no frame. The first frame also says which round of the log it belongs to.
        let salt = isSound ? (word(header, 16), word(header, 20)) : (word(header, 40), word(header, 44))
        let (finding, frames) = try walk(
            file, pageSize: pageSize, salt: salt, sum: isSound ? sum : nil, isBigEndian: isSound && isBigEndian)
        let round = header.withUnsafeBytes { LogRound(UnsafeRawBufferPointer(rebasing: $0[16..<24])) }
        return (finding, isSound ? Content(round: round, frames: frames) : nil)
    }

    private static func isPageSize(_ size: Int) -> Bool { (512...65_536).contains(size) && size & (size - 1) == 0 }

    /// - Parameter sum: the header's checksum; nil when the header is damaged.
    /// - Returns: also the number of frames up to the end of the last whole transaction.
    private static func walk(
        _ file: Int32, pageSize: Int, salt: (UInt32, UInt32), sum start: LogChecksum?, isBigEndian: Bool
    ) throws(Unreadable) -> (Finding, frames: Int) {
        let size = frameHeaderSize + pageSize
        let perRead = max(1, (1 << 20) / size)
        var buffer = [UInt8](repeating: 0, count: size * perRead)
        var firstBad: Int?
        // Whether a transaction ends at the first bad frame, unless an earlier round has left that frame, or behind it.
        var hasEnd = false
        // The sums from which the next frame may continue: the computed and the stored sum of the frame before it,
        // since either may be damaged.
        var before = start.map { [$0] } ?? []
        var (frame, committed) = (0, 0)
        while true {
            let read = try read(file, &buffer, at: headerSize + frame * size)
            guard read >= size else { return (hasEnd ? .torn : .sound, committed) }
            for place in 0..<read / size {
                let offset = place * size
                let isOfRound = (word(buffer, offset + 8), word(buffer, offset + 12)) == salt
                let stored = LogChecksum(
                    isBigEndian: isBigEndian, (word(buffer, offset + 16), word(buffer, offset + 20)))
                let isEnd = word(buffer, offset + 4) != 0
                var sums: [LogChecksum] = []
                if isOfRound || firstBad == nil {
                    sums = buffer.withUnsafeBytes { bytes in
                        before.map { $0.adding(bytes, frame: offset..<offset + size) }
                    }
                }
                let matches = sums.contains(stored)
                if let firstBad {
                    if matches, hasEnd { return (.damaged(frame: firstBad), committed) }
                    if matches { hasEnd = isEnd }
                } else if !matches || !isOfRound {
                    firstBad = frame + place
                    hasEnd = (matches || isOfRound) && isEnd
                } else if isEnd {
                    committed = frame + place + 1
                }
                before = matches ? [stored] : sums.prefix(1) + [stored]
            }
            frame += read / size
        }
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }

    /// Moves a log away that must not be applied.
    ///
    /// - Returns: its new path; nil when there is none.
    static func setAside(_ path: String) -> String? {
        guard access(path, F_OK) == 0 else { return nil }
        let place = nameOfCopy(of: path)
        let isKept = rename(path, place) == 0
        // Its content would be mixed into the database.
        if !isKept { unlink(path) }
        _ = StorePlace.sync(StorePlace.directory(of: path))
        return isKept ? place : nil
    }

    private static func nameOfCopy(of path: String) -> String { "\(path).damaged-\(time(nil))" }

    /// Copies a log, for a later look at its content.
    ///
    /// - Returns: the path of the copy; nil when it could not be made.
    static func keepCopy(of path: String) -> String? {
        let copy = nameOfCopy(of: path)
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { return nil }
        defer { close(source) }
        let target = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard target >= 0 else { return nil }
        defer { close(target) }
        var copied = 0
        repeat { copied = sendfile(target, source, nil, 1 << 20) } while copied > 0
        if copied == 0, fsync(target) == 0 { return copy }
        unlink(copy)
        return nil
    }
}

/// The checksum of a log: two sums over pairs of words.
private struct LogChecksum: Equatable {
    private let isBigEndian: Bool
    private var first: UInt32
    private var second: UInt32

    init(isBigEndian: Bool, _ sums: (UInt32, UInt32) = (0, 0)) {
        self.isBigEndian = isBigEndian
        (first, second) = sums
    }

    /// The sum of the next frame: over all of it except its salts and its own checksum.
    func adding(_ bytes: UnsafeRawBufferPointer, frame: Range<Int>) -> LogChecksum {
        var sum = self
        sum.add(UnsafeRawBufferPointer(rebasing: bytes[frame.prefix(8)]))
        sum.add(UnsafeRawBufferPointer(rebasing: bytes[frame.dropFirst(LogInspection.frameHeaderSize)]))
        return sum
    }

    /// - Precondition: the count is a multiple of eight.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        for offset in stride(from: 0, to: bytes.count, by: 8) {
            let (one, two) = (
                bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self),
                bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            )
            first = first &+ (isBigEndian ? one.bigEndian : one.littleEndian) &+ second
            second = second &+ (isBigEndian ? two.bigEndian : two.littleEndian) &+ first
        }
    }
}
