import CThreads
import Glibc
import JSONDocument

/// Two halves: lines are added to one while the writer writes the other. The lock of `LogSink` guards it.
struct LogBuffer {
    enum Writer {
        /// Until it is woken.
        case asleep
        /// Until it is woken, or its nap is over.
        case napping
        case awake
    }

    private let form: LogForm
    private let halfSize: Int
    private var filling: [UInt8] = []
    private var writing: [UInt8] = []
    private var time: LogTime

    var writer = Writer.awake
    var hasWriter = false
    var isStopping = false
    /// A line should be written at once, or a caller waits for a flush.
    var isUrgent = false
    /// Lines that were dropped and not reported yet.
    private var unreported = 0
    /// All bytes that were ever added.
    private(set) var added = 0
    private(set) var done = 0

    /// Enough to write at once: about four hundred requests. Waking the writer costs as much as ten lines.
    private static let muchToWrite = 128 << 10
    /// Bytes of most requests' lines.
    private static let usualLine = 384
    /// Kept free for the line that reports dropped ones.
    private static let reserve = 256

    /// - Parameter capacity: bytes of both halves together. The system takes memory only for the part that is used.
    init(form: LogForm, capacity: Int) {
        self.form = form
        halfSize = max(capacity / 2, 1024)
        filling.reserveCapacity(halfSize + Self.reserve)
        writing.reserveCapacity(halfSize + Self.reserve)
        time = LogTime(form: form)
    }

    var isEmpty: Bool { filling.isEmpty }

    /// Whether the writer should end its nap.
    var isPressing: Bool { isUrgent || filling.count >= Self.muchToWrite }

    /// - Returns: false when the line was dropped.
    mutating func append(_ line: borrowing LogLine, at time: UInt64, urgent: Bool) -> Bool {
        guard filling.count + LogTime.room + line.bytes.count <= halfSize else {
            unreported += 1
            return false
        }
        add(line, at: time)
        isUrgent = isUrgent || urgent
        return true
    }

    /// - Returns: whether the caller must wake the writer.
    mutating func callWriter() -> Bool {
        switch writer {
        case .asleep where !isEmpty, .napping where isPressing:
            writer = .awake
            return true
        default: return false
        }
    }

    /// The lines to write next.
    struct Batch {
        let bytes: [UInt8]
        /// Where the batch ends among all bytes that were ever added.
        let end: Int
        /// How many dropped lines its last line reports; 0 when it has no such line.
        let reported: Int
    }

    mutating func takeBatch() -> Batch {
        let reported = unreported
        if reported > 0 {
            var line = LogLine(form, .warning, "log_dropped")
            line.add("lines", reported)
            line.end()
            unreported = 0
            add(line, at: LogTime.now())
        }
        // The batch before this one has been written, so nothing else refers to this half and it keeps its memory.
        writing.removeAll(keepingCapacity: true)
        swap(&filling, &writing)
        isUrgent = false
        return Batch(bytes: writing, end: added, reported: reported)
    }

    /// - Parameter lost: how many of its lines, the last ones, could not be written.
    /// - Returns: how many dropped lines that adds.
    mutating func finish(_ batch: Batch, lost: Int) -> Int {
        done = batch.end
        guard lost > 0 else { return 0 }
        // The last line reported earlier drops. It will be written again, so it is not lost.
        let dropped = batch.reported > 0 ? lost - 1 : lost
        unreported += dropped + batch.reported
        return dropped
    }

    private mutating func add(_ line: borrowing LogLine, at time: UInt64) {
        let start = filling.count
        self.time.append(time, to: &filling)
        filling.append(contentsOf: line.bytes)
        added += filling.count - start
        // The next line goes to memory that the writer's processor has read. Releasing the lock would wait for it: 4 %
        // of a write in memory.
        filling.withUnsafeBufferPointer { bytes in
            cthreads_prefetch_for_writing(bytes.baseAddress.map { $0 + bytes.count }, Self.usualLine)
        }
    }
}

/// The beginning of a line: its time in UTC. The part that the lines of a second share is made once.
///
/// Times come from the monotonic clock, which every caller has read anyway. Its distance to the wall clock is read
/// again every second, so the log follows a wall clock that is set.
package struct LogTime {
    private let form: LogForm
    /// The wall clock's time minus the monotonic clock's, in nanoseconds.
    private let wallOffset: @Sendable () -> Int64
    /// When the second in `text` began, and its length: 0 before there is one.
    private var start: UInt64 = 0
    private var span: UInt64 = 0
    /// The beginning of a line, and where its milliseconds are.
    private var text: [UInt8] = []
    private var milliseconds = 0

    /// Its greatest length.
    static let room = 48
    private static let second: UInt64 = 1_000_000_000

    init(form: LogForm, wallOffset: @escaping @Sendable () -> Int64 = Self.readWallOffset) {
        self.form = form
        self.wallOffset = wallOffset
    }

    /// Now, in nanoseconds of the monotonic clock.
    package static func now() -> UInt64 { UInt64(bitPattern: read(CLOCK_MONOTONIC)) }

    /// Appends the beginning of a line.
    /// - Parameter time: in nanoseconds of the monotonic clock.
    mutating func append(_ time: UInt64, to lines: inout [UInt8]) {
        // For a time before that second the difference is a huge number.
        if time &- start >= span { prepare(time) }
        let fraction = UInt32(truncatingIfNeeded: time &- start) / 1_000_000
        text[milliseconds] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction / 100)
        text[milliseconds + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction / 10 % 10)
        text[milliseconds + 2] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction % 10)
        lines += text
    }

    private mutating func prepare(_ time: UInt64) {
        let wall = Int64(bitPattern: time) &+ wallOffset()
        var (second, fraction) = wall.quotientAndRemainder(dividingBy: Int64(Self.second))
        if fraction < 0 {
            second -= 1
            fraction += Int64(Self.second)
        }
        start = time &- UInt64(fraction)
        span = Self.second
        // 2026-01-31T09:05:07.000Z
        let shown = Timestamp(millisecondsSince1970: second * 1_000).description
        let (prefix, suffix) =
            switch form {
            case .json: ("{\"time\":\"\(shown.prefix(20))", "Z\",")
            case .text: (String(shown.prefix(20).suffix(9)), " ")
            }
        text = Array("\(prefix)000\(suffix)".utf8)
        precondition(text.count <= Self.room, "the time \(shown) is too long")
        milliseconds = prefix.utf8.count
    }

    private static func readWallOffset() -> Int64 { read(CLOCK_REALTIME) &- read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* Int64(second) &+ Int64(time.tv_nsec)
    }
}
