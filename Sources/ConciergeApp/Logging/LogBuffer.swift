import Glibc
import JSONDocument

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
    private var time: LogTime

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

    /// Enough to write at once: some four hundred requests. Waking the writer costs as much as ten lines do.
    private static let muchToWrite = 128 << 10
    /// Kept free for the line that tells of dropped ones, and for what copying a time touches.
    private static let reserve = 256

    /// - Parameter capacity: bytes, of both halves together. Memory that is never reached is never used.
    init(form: LogForm, capacity: Int) {
        self.form = form
        halfSize = max(capacity / 2, 1024)
        filling = .allocate(byteCount: halfSize + Self.reserve, alignment: 64)
        writing = .allocate(byteCount: halfSize + Self.reserve, alignment: 64)
        time = LogTime(form: form)
    }

    func deallocate() {
        filling.deallocate()
        writing.deallocate()
        time.deallocate()
    }

    var isEmpty: Bool { used == 0 }

    /// Whether the writer should not nap any longer.
    var isPressing: Bool { isUrgent || used >= Self.muchToWrite }

    /// - Returns: false when the line was dropped.
    mutating func append(_ body: UnsafeRawBufferPointer, at time: UInt64, urgent: Bool) -> Bool {
        guard used + LogTime.room + body.count <= halfSize else {
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
            form.body(of: line.bytes).withUnsafeBytes { add($0, at: LogTime.now()) }
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

    private mutating func add(_ body: UnsafeRawBufferPointer, at time: UInt64) {
        guard let source = body.baseAddress else { return }
        let start = used
        used += self.time.put(time, at: filling + used)
        (filling + used).copyMemory(from: source, byteCount: body.count)
        used += body.count
        added += used - start
    }
}
