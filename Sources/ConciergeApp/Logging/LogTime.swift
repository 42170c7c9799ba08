import Glibc
import JSONDocument
import Sessions

/// The beginning of a line: its time, in UTC. What the lines of one second share is made once.
///
/// Times come from the monotonic clock, which whoever logs has read anyway. How far the wall clock is ahead of it is
/// looked at again in every second: a wall clock that was set is followed that soon.
struct LogTime {
    private let form: LogForm
    /// The wall clock's time less that of the monotonic clock, in nanoseconds.
    private let wallOffset: @Sendable () -> Int64
    /// When the second that `template` shows began, and how long it is: 0 before there is one.
    private var start: UInt64 = 0
    private var span: UInt64 = 0
    /// What is in front of a line, with the milliseconds still to come.
    private let template = UnsafeMutableRawPointer.allocate(byteCount: Self.room, alignment: 16)
    private(set) var length = 0
    private var milliseconds = 0

    /// How much memory `put` may touch: a fixed size is copied quicker than the exact one.
    static let room = 48
    private static let second: UInt64 = 1_000_000_000

    init(form: LogForm, wallOffset: @escaping @Sendable () -> Int64 = Self.readWallOffset) {
        self.form = form
        self.wallOffset = wallOffset
    }

    func deallocate() { template.deallocate() }

    /// Now, in nanoseconds of the monotonic clock.
    static func now() -> UInt64 { UInt64(bitPattern: read(CLOCK_MONOTONIC)) }

    /// - Parameter time: in nanoseconds of the monotonic clock.
    /// - Returns: how many bytes count, of those written.
    mutating func put(_ time: UInt64, at target: UnsafeMutableRawPointer) -> Int {
        // A time before the second that is shown gives a huge number.
        if time &- start >= span { prepare(time) }
        target.copyMemory(from: template, byteCount: Self.room)
        let fraction = UInt32(truncatingIfNeeded: time &- start) / 1_000_000
        let digits = (target + milliseconds).assumingMemoryBound(to: UInt8.self)
        digits[0] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: fraction / 100)
        digits[1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: fraction / 10 % 10)
        digits[2] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: fraction % 10)
        return length
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
        let text = Timestamp(millisecondsSince1970: second * 1_000).description
        let (prefix, suffix) =
            switch form {
            case .json: ("{\"time\":\"\(text.prefix(20))", "Z\",")
            case .text: (String(text.prefix(20).suffix(9)), " ")
            }
        let whole = Array("\(prefix)000\(suffix)".utf8)
        precondition(whole.count <= Self.room, "the time \(text) is too long")
        template.copyMemory(from: whole, byteCount: whole.count)
        length = whole.count
        milliseconds = prefix.utf8.count
    }

    private static func readWallOffset() -> Int64 { read(CLOCK_REALTIME) &- read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* Int64(second) &+ Int64(time.tv_nsec)
    }
}
