import Glibc
import Synchronization
import Threads

/// Lines that wait to be written, and the thread that writes them.
///
/// The writer sleeps, without a timer, until there is a line, and writes it at once. Then it naps: it collects lines
/// until the nap is over, there are many of them, or one is urgent. An idle server wakes no thread, and a busy one
/// makes few system calls.
///
/// `@unchecked Sendable`: `state` is used only with the monitor's lock held, `isInsideLine` only by the writer. The
/// rest never changes.
final class LogSink: @unchecked Sendable {
    /// The writer and callers of flush wait for it.
    private let monitor = Monitor()
    private var state: LogBuffer
    private let descriptor: Int32
    /// Writing failed after the beginning of a line.
    private var isInsideLine = false
    private let dropped = Atomic<Int>(0)

    init(descriptor: Int32, form: LogForm, capacity: Int) {
        self.descriptor = descriptor
        state = LogBuffer(form: form, capacity: capacity)
    }

    /// Starts the writer, which keeps the sink alive until `stop`.
    func start() {
        state.hasWriter = true
        // Without a writer, the thread that appends writes: a slow log is better than none.
        if !DetachedThread.start("log writer", isAwaited: false, run) { state.hasWriter = false }
    }

    /// The writer ends when it has written all lines. Nothing may be appended afterwards.
    func stop() {
        monitor.withLock { state.isStopping = true }
        monitor.broadcast()
    }

    var droppedLines: Int { dropped.load(ordering: .relaxed) }

    /// Puts the time in front of a line and the line in the buffer.
    /// - Parameter time: in nanoseconds of the monotonic clock.
    func append(_ line: borrowing LogLine, at time: UInt64, urgent: Bool) {
        monitor.lock()
        let fits = state.append(line, at: time, urgent: urgent)
        let wakes = state.callWriter()
        if !state.hasWriter { drain() }
        monitor.unlock()
        if !fits { dropped.add(1, ordering: .relaxed) }
        if wakes { monitor.broadcast() }
    }

    func flush(atMost limit: Duration) -> Bool {
        let deadline = Monitor.deadline(after: limit)
        return monitor.withLock {
            let target = state.added
            guard state.done < target else { return true }
            state.isUrgent = true
            if state.callWriter() { monitor.broadcast() }
            while state.done < target {
                if !monitor.wait(until: deadline) { return state.done >= target }
            }
            return true
        }
    }

    // MARK: The writer

    private func run() {
        monitor.withLock {
            while true {
                while state.isEmpty, !state.isStopping {
                    state.writer = .asleep
                    monitor.wait()
                }
                if state.isEmpty { break }
                state.writer = .awake
                drain()
                monitor.broadcast()
                nap()
            }
        }
    }

    /// Writes all waiting lines. The caller holds the lock; a separate writer releases it while it writes, so that
    /// others may append.
    private func drain() {
        let unlocks = state.hasWriter
        let batch = state.takeBatch()
        if unlocks { monitor.unlock() }
        let lost = batch.bytes.withUnsafeBytes(write)
        if unlocks { monitor.lock() }
        dropped.add(state.finish(batch, lost: lost), ordering: .relaxed)
    }

    private func nap() {
        let deadline = Monitor.deadline(after: Self.napTime)
        state.writer = .napping
        while !state.isPressing, !state.isStopping {
            if !monitor.wait(until: deadline) { break }
        }
        state.writer = .awake
    }

    /// How long a line may wait for others.
    private static let napTime = Duration.milliseconds(50)

    /// Writes a whole batch, however long its reader takes.
    /// - Returns: how many lines could not be written because of an error that waiting does not mend.
    private func write(_ lines: UnsafeRawBufferPointer) -> Int {
        if isInsideLine {
            // The next line must not continue the one that was cut.
            var lineBreak = UInt8(ascii: "\n")
            if withUnsafeBytes(of: &lineBreak, put) == 1 { isInsideLine = false }
        }
        let written = put(lines)
        guard written < lines.count else { return 0 }
        isInsideLine = written > 0 ? lines[written - 1] != UInt8(ascii: "\n") : isInsideLine
        return lines[written...].count { $0 == UInt8(ascii: "\n") }
    }

    /// - Returns: how many bytes were written before an error.
    private func put(_ bytes: UnsafeRawBufferPointer) -> Int {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                // Another process made the descriptor non-blocking. Others may share it, so it stays so.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return written
            }
        }
        return written
    }
}
