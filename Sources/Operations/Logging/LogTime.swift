import Glibc
import JSONDocument

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
