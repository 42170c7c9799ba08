import Glibc
import JSONDocument
import Sessions

/// Two halves: lines are added to one while the other is being written. Guarded by the lock of `LogSink`.
struct LogBuffer {
    enum Writer {
        /// Until it is called.
        case asleep
        /// Until it is called, or its nap is over.
        case napping
        /// It will look by itself.
        case awake
    }

    private let form: LogForm
    private let halfSize: Int
    private var filling: UnsafeMutableRawPointer
    private var writing: UnsafeMutableRawPointer
    private var used = 0
    /// The text of a second, `2026-01-31T09:05:07.`, which many lines share.
    private var second: Int
    private var secondText: InlineArray<20, UInt8> = .init(repeating: 0)

    var writer = Writer.awake
    var hasWriter = false
    var isStopping = false
    /// A line waits that should be written at once, or somebody who flushes.
    var isUrgent = false
    /// Lines that were dropped since a line said so.
    private var unreported = 0
    /// Bytes that were ever added, and how many of them have been dealt with.
    private(set) var added = 0
    private(set) var done = 0

    /// Enough to write at once: about a hundred requests.
    private static let muchToWrite = 32 << 10
    /// Kept free for the line that tells of dropped ones.
    private static let reserve = 256

    /// - Parameter capacity: bytes, of both halves together. Memory that is never reached is never used.
    init(form: LogForm, capacity: Int) {
        self.form = form
        halfSize = max(capacity / 2, 1024)
        filling = .allocate(byteCount: halfSize + Self.reserve, alignment: 64)
        writing = .allocate(byteCount: halfSize + Self.reserve, alignment: 64)
        second = .min
    }

    func deallocate() {
        filling.deallocate()
        writing.deallocate()
    }

    var isEmpty: Bool { used == 0 }

    /// Whether the writer should not nap any longer.
    var isPressing: Bool { isUrgent || used >= Self.muchToWrite }

    /// - Returns: false when the line was dropped.
    mutating func append(_ body: UnsafeRawBufferPointer, at time: timespec, urgent: Bool) -> Bool {
        guard used + Self.timeBytes + body.count <= halfSize else {
            unreported += 1
            return false
        }
        add(body, at: time)
        isUrgent = isUrgent || urgent
        return true
    }

    /// - Returns: whether the writer has to be woken up, which the caller does then.
    mutating func callWriter() -> Bool {
        switch writer {
        case .asleep where !isEmpty, .napping where isPressing:
            writer = .awake
            return true
        default: return false
        }
    }

    /// What is to be written next.
    struct Batch {
        /// Stays as it is until the next batch is taken.
        let bytes: UnsafeRawBufferPointer
        /// Where it ends among all that was ever added.
        let end: Int
        /// How many dropped lines its last line tells of; 0 when it has no such line.
        let reported: Int
    }

    mutating func takeBatch() -> Batch {
        let reported = unreported
        if reported > 0 {
            var line = JSONWriter()
            line.beginObject()
            line.name("level")
            line.string(Configuration.Log.Level.warning.rawValue)
            line.name("event")
            line.string("log_dropped")
            line.name("lines")
            line.int(reported)
            line.endObject()
            unreported = 0
            var now = timespec()
            clock_gettime(CLOCK_REALTIME, &now)
            form.body(of: line.bytes).withUnsafeBytes { add($0, at: now) }
        }
        let bytes = UnsafeRawBufferPointer(start: filling, count: used)
        swap(&filling, &writing)
        used = 0
        isUrgent = false
        return Batch(bytes: bytes, end: added, reported: reported)
    }

    /// - Parameter lost: how many of its lines could not be written, the last ones.
    /// - Returns: how many dropped lines that makes more.
    mutating func finish(_ batch: Batch, lost: Int) -> Int {
        done = batch.end
        guard lost > 0 else { return 0 }
        // The line that told of others was the last one. It will come again, and is no loss by itself.
        let dropped = batch.reported > 0 ? lost - 1 : lost
        unreported += dropped + batch.reported
        return dropped
    }

    /// The longer of the two forms.
    private static let timeBytes = 9 + 20 + 3 + 3

    private mutating func add(_ body: UnsafeRawBufferPointer, at time: timespec) {
        let start = used
        if time.tv_sec != second { rememberText(of: time.tv_sec) }
        let milliseconds = UInt32(truncatingIfNeeded: time.tv_nsec / 1_000_000)
        switch form {
        case .json:
            put("{\"time\":\"")
            putSecond(from: 0)
            putDigits(milliseconds)
            put("Z\",")
        case .text:
            putSecond(from: 11)
            putDigits(milliseconds)
            put(" ")
        }
        if let source = body.baseAddress {
            (filling + used).copyMemory(from: source, byteCount: body.count)
            used += body.count
        }
        added += used - start
    }

    private mutating func rememberText(of second: Int) {
        self.second = second
        var index = 0
        for byte in Timestamp(millisecondsSince1970: Int64(second) * 1_000).description.utf8.prefix(20) {
            secondText[index] = byte
            index += 1
        }
    }

    private mutating func put(_ text: StaticString) {
        (filling + used).copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        used += text.utf8CodeUnitCount
    }

    private mutating func putSecond(from start: Int) {
        let target = (filling + used).assumingMemoryBound(to: UInt8.self)
        for index in start..<20 { target[index - start] = secondText[index] }
        used += 20 - start
    }

    private mutating func putDigits(_ value: UInt32) {
        let target = (filling + used).assumingMemoryBound(to: UInt8.self)
        target[0] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 100)
        target[1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10 % 10)
        target[2] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
        used += 3
    }
}
