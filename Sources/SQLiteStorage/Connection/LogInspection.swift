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
        /// The page in each frame, up to the end of the last whole transaction.
        let pages: ArraySlice<UInt32>
        /// The pages of the database after it; 0 without a transaction.
        let pageCount: UInt32

        var frames: Int { pages.count }
    }

    let finding: Finding
    /// Nil when there is no log, or its header is damaged.
    let content: Content?

    /// - Parameter database: the path of the database beside the log. A missing log is sound.
    /// - Throws: ``StoreOpeningError`` when the log cannot be read: nothing is known of it then.
    init(of database: String) throws(StoreOpeningError) {
        do throws(Unreadable) {
            let log = open(FileLock.realPath(of: database) + "-wal", O_RDONLY | O_CLOEXEC)
            guard log >= 0 || errno == ENOENT else { throw Unreadable(code: errno) }
            defer { if log >= 0 { close(log) } }
            (finding, content) = log >= 0 ? try Self.inspect(log) : (.sound, nil)
        } catch {
            let why = String(cString: strerror(error.code))
            throw .unusable(database, reason: "its log cannot be read (\(why)): start again, and look at the disk")
        }
    }

    /// The value of `errno`.
    struct Unreadable: Error { let code: Int32 }

    /// Reads as many bytes as there are and fit. An error may pass, so it reads again after one.
    static func read(_ file: Int32, _ bytes: inout [UInt8], at place: Int) throws(Unreadable) -> Int {
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
    static let frameSize = frameHeaderSize + SQLiteSchema.pageSize

    private static func inspect(_ file: Int32) throws(Unreadable) -> (Finding, Content?) {
        var header = [UInt8](repeating: 0, count: headerSize + frameHeaderSize)
        guard try read(file, &header, at: 0) == header.count else { return (.sound, nil) }
        var sum = LogChecksum()
        header.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[..<24])) }
        let stored = LogChecksum(header.word(24), header.word(28))
        // The other magic number is of machines that put the highest byte first, for which this program is not built.
        let isSound = header.word(0) == 0x377F_0682 && sum == stored
        // With a damaged header SQLite reads no frame. The first frame also says which round of the log it belongs to.
        let salt = isSound ? (header.word(16), header.word(20)) : (header.word(40), header.word(44))
        let round = header.withUnsafeBytes { LogRound(UnsafeRawBufferPointer(rebasing: $0[16..<24])) }
        let (finding, content) = try walk(file, of: round, salt: salt, sum: isSound ? sum : nil)
        return (finding, isSound ? content : nil)
    }

    /// - Parameter sum: the header's checksum; nil when the header is damaged.
    private static func walk(
        _ file: Int32, of round: LogRound, salt: (UInt32, UInt32), sum start: LogChecksum?
    ) throws(Unreadable) -> (Finding, Content) {
        let size = frameSize
        let perRead = max(1, (1 << 20) / size)
        var buffer = [UInt8](repeating: 0, count: size * perRead)
        var firstBad: Int?
        // Whether a transaction ends at the first bad frame, unless an earlier round has left that frame, or behind it.
        var hasEnd = false
        // The sums from which the next frame may continue: the computed and the stored sum of the frame before it,
        // since either may be damaged.
        var before = start.map { [$0] } ?? []
        var (frame, pages, committed, pageCount) = (0, [UInt32](), 0, UInt32(0))
        var content: Content { Content(round: round, pages: pages[..<committed], pageCount: pageCount) }
        while true {
            let read = try read(file, &buffer, at: headerSize + frame * size)
            guard read >= size else { return (hasEnd ? .torn : .sound, content) }
            for place in 0..<read / size {
                let offset = place * size
                let isOfRound = (buffer.word(offset + 8), buffer.word(offset + 12)) == salt
                let stored = LogChecksum(buffer.word(offset + 16), buffer.word(offset + 20))
                let isEnd = buffer.word(offset + 4) != 0
                var sums: [LogChecksum] = []
                if isOfRound || firstBad == nil {
                    sums = buffer.withUnsafeBytes { bytes in
                        before.map { $0.adding(bytes, frame: offset..<offset + size) }
                    }
                }
                let matches = sums.contains(stored)
                if let firstBad {
                    if matches, hasEnd { return (.damaged(frame: firstBad), content) }
                    if matches { hasEnd = isEnd }
                } else if !matches || !isOfRound {
                    firstBad = frame + place
                    hasEnd = (matches || isOfRound) && isEnd
                } else {
                    pages.append(buffer.word(offset))
                    if isEnd { (committed, pageCount) = (pages.count, buffer.word(offset + 4)) }
                }
                before = matches ? [stored] : sums.prefix(1) + [stored]
            }
            frame += read / size
        }
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
    private var first: UInt32
    private var second: UInt32

    init(_ first: UInt32 = 0, _ second: UInt32 = 0) { (self.first, self.second) = (first, second) }

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
            first = first &+ one.littleEndian &+ second
            second = second &+ two.littleEndian &+ first
        }
    }
}
