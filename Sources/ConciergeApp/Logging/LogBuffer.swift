/// Two halves: lines are added to one while the other is being written. Guarded by the lock of `LogSink`.
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
    /// A line waits that should be written at once, or a caller that flushes.
    var isUrgent = false
    /// Lines that were dropped since a line said so.
    private var unreported = 0
    /// Bytes that were ever added, and how many of them have been dealt with.
    private(set) var added = 0
    private(set) var done = 0

    /// Enough to write at once: some four hundred requests. Waking the writer costs as much as ten lines do.
    private static let muchToWrite = 128 << 10
    /// Kept free for the line that reports dropped ones.
    private static let reserve = 256

    /// - Parameter capacity: bytes, of both halves together. Memory that is never reached is never used.
    init(form: LogForm, capacity: Int) {
        self.form = form
        halfSize = max(capacity / 2, 1024)
        filling.reserveCapacity(halfSize + Self.reserve)
        writing.reserveCapacity(halfSize + Self.reserve)
        time = LogTime(form: form)
    }

    var isEmpty: Bool { filling.isEmpty }

    /// Whether the writer should not nap any longer.
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

    /// - Returns: whether the writer has to be woken, which the caller does then.
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
        let bytes: [UInt8]
        /// Where it ends among all that was ever added.
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
        // The batch before this one has been written, so this half is held by nobody else and keeps its memory.
        writing.removeAll(keepingCapacity: true)
        swap(&filling, &writing)
        isUrgent = false
        return Batch(bytes: writing, end: added, reported: reported)
    }

    /// - Parameter lost: how many of its lines could not be written, the last ones.
    /// - Returns: how many dropped lines that adds.
    mutating func finish(_ batch: Batch, lost: Int) -> Int {
        done = batch.end
        guard lost > 0 else { return 0 }
        // The line that reported others was the last one. It will be written again, and is no loss by itself.
        let dropped = batch.reported > 0 ? lost - 1 : lost
        unreported += dropped + batch.reported
        return dropped
    }

    private mutating func add(_ line: borrowing LogLine, at time: UInt64) {
        let start = filling.count
        self.time.append(time, to: &filling)
        filling.append(contentsOf: line.bytes)
        added += filling.count - start
    }
}
