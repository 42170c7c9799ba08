import Glibc

/// A look at the log that a process left, before SQLite reads it.
///
/// SQLite takes the first frame that does not fit its checksum for the end of the log
/// (<https://www.sqlite.org/fileformat2.html#the_write_ahead_log>), which is right after a power cut: each transaction is
/// synced before the next one begins, so only the last one may be torn. A frame that is damaged further in front would take
/// all that was acknowledged behind it away without a word. The proof is behind it: frames of the same round of the log
/// that fit the checksum of the frame before them, and among them the end of a transaction with another one after it.
struct LogInspection {
    enum Finding: Equatable {
        case sound
        /// The last transaction is not whole: as after a power cut, or damaged.
        case torn
        /// Transactions behind that frame were written, and cannot be read.
        case damaged(frame: Int)
    }

    let finding: Finding

    /// - Parameter database: the path of the database beside the log. Without a log it is sound.
    init(of database: String) {
        var head = [UInt8](repeating: 0, count: 18)
        let (file, log) = (open(database, O_RDONLY | O_CLOEXEC), open(database + "-wal", O_RDONLY | O_CLOEXEC))
        defer { for file in [file, log] where file >= 0 { close(file) } }
        // The log says it as well, and may be damaged there. 1 stands for 65,536.
        let isDatabase = pread(file, &head, head.count, 0) == head.count
        let size = Int(head[16]) << 8 | Int(head[17])
        finding = isDatabase && log >= 0 ? Self.look(log, pageSize: size == 1 ? 65_536 : size) : .sound
    }

    private static let headerSize = 32
    fileprivate static let frameHeaderSize = 24

    private static func look(_ file: Int32, pageSize: Int) -> Finding {
        var header = [UInt8](repeating: 0, count: headerSize + frameHeaderSize)
        guard pageSize >= 512, pread(file, &header, header.count, 0) == header.count else { return .sound }
        let isBigEndian = word(header, 0) & 1 == 1
        var sum = LogChecksum(isBigEndian: isBigEndian)
        header.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[..<24])) }
        let told = LogChecksum(isBigEndian: isBigEndian, (word(header, 24), word(header, 28)))
        let isSound = word(header, 0) & ~1 == 0x377F_0682 && sum == told
        // A damaged header ends the log before its first frame, whose own word about the round is as good.
        let salt = isSound ? (word(header, 16), word(header, 20)) : (word(header, 40), word(header, 44))
        return walk(file, pageSize: pageSize, salt: salt, sum: isSound ? sum : nil, isBigEndian: isSound && isBigEndian)
    }

    /// - Parameter sum: of the header; nil when that is damaged.
    private static func walk(
        _ file: Int32, pageSize: Int, salt: (UInt32, UInt32), sum start: LogChecksum?, isBigEndian: Bool
    ) -> Finding {
        let size = frameHeaderSize + pageSize
        let perRead = max(1, (1 << 20) / size)
        var buffer = [UInt8](repeating: 0, count: size * perRead)
        var firstBad: Int?
        // Whether it, unless an earlier round has left it, or one behind it ends a transaction.
        var hasEnd = false
        // The sums that the next frame may go on from: that of the frame before it, as it is and as it says, for either may
        // be damaged.
        var before = start.map { [$0] } ?? []
        var frame = 0
        while true {
            let read = buffer.withUnsafeMutableBytes { bytes in
                pread(file, bytes.baseAddress, bytes.count, off_t(headerSize + frame * size))
            }
            guard read >= size else { break }
            for place in 0..<read / size {
                let offset = place * size
                let isOfRound = (word(buffer, offset + 8), word(buffer, offset + 12)) == salt
                let told = LogChecksum(
                    isBigEndian: isBigEndian, (word(buffer, offset + 16), word(buffer, offset + 20)))
                let isEnd = word(buffer, offset + 4) != 0
                var sums: [LogChecksum] = []
                if isOfRound || firstBad == nil {
                    sums = buffer.withUnsafeBytes { bytes in
                        before.map { $0.adding(bytes, frame: offset..<offset + size) }
                    }
                }
                let fits = sums.contains(told)
                if let firstBad {
                    if fits, hasEnd { return .damaged(frame: firstBad) }
                    if fits { hasEnd = isEnd }
                } else if !fits || !isOfRound {
                    firstBad = frame + place
                    hasEnd = (fits || isOfRound) && isEnd
                }
                before = fits ? [told] : sums.prefix(1) + [told]
            }
            frame += read / size
        }
        return hasEnd ? .torn : .sound
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }

    /// Copies a log for whoever looks into what was in it.
    ///
    /// - Returns: the path of the copy; nil when it could not be made.
    static func keepCopy(of path: String) -> String? {
        let copy = "\(path).damaged-\(time(nil))"
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { return nil }
        defer { close(source) }
        let target = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard target >= 0 else { return nil }
        defer { close(target) }
        while true {
            let copied = sendfile(target, source, nil, 1 << 20)
            if copied > 0 { continue }
            guard copied == 0, fsync(target) == 0 else {
                unlink(copy)
                return nil
            }
            return copy
        }
    }
}

/// The checksum of the log: two sums over pairs of words.
private struct LogChecksum: Equatable {
    private let isBigEndian: Bool
    private var first: UInt32
    private var second: UInt32

    init(isBigEndian: Bool, _ sums: (UInt32, UInt32) = (0, 0)) {
        self.isBigEndian = isBigEndian
        (first, second) = sums
    }

    /// That of a frame which follows: all of it but its salts and its own checksum.
    func adding(_ bytes: UnsafeRawBufferPointer, frame: Range<Int>) -> LogChecksum {
        var sum = self
        sum.add(UnsafeRawBufferPointer(rebasing: bytes[frame.prefix(8)]))
        sum.add(UnsafeRawBufferPointer(rebasing: bytes[frame.dropFirst(LogInspection.frameHeaderSize)]))
        return sum
    }

    /// - Precondition: a multiple of eight bytes.
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
