import Synchronization
import Testing

@testable import ConciergeApp
@testable import Operations

@Suite("Times in the log")
struct LoggingTimeTests {
    private static let second: Int64 = 1_000_000_000
    /// 2026-01-31T09:05:07Z.
    private static let moment: Int64 = 1_769_850_307 * second

    private final class WallClock: Sendable {
        /// What it is ahead of the monotonic clock.
        let offset = Atomic<Int64>(0)
    }

    /// What stands in front of lines that come at those times of the monotonic clock.
    private func times(
        _ form: LogForm = .text, of lines: [(monotonic: UInt64, offset: Int64)]
    ) -> [String] {
        let wall = WallClock()
        var time = LogTime(form: form) { wall.offset.load(ordering: .relaxed) }
        return lines.map { monotonic, offset in
            wall.offset.store(offset, ordering: .relaxed)
            var line: [UInt8] = []
            time.append(monotonic, to: &line)
            return String(decoding: line, as: UTF8.self)
        }
    }

    @Test("Lines of one second differ in their milliseconds")
    func milliseconds() {
        let offset = Self.moment - 5_000
        let lines = [5_000, 1_004_999, 1_005_000, 1_000_004_999, 1_000_005_000].map { (UInt64($0), offset) }
        #expect(
            times(of: lines) == [
                "09:05:07.000 ", "09:05:07.000 ", "09:05:07.001 ", "09:05:07.999 ", "09:05:08.000 ",
            ])
        #expect(times(.json, of: [lines[2]]) == ["{\"time\":\"2026-01-31T09:05:07.001Z\","])
    }

    @Test("A line that comes late, from the second before, has its own time")
    func late() {
        let lines: [UInt64] = [1_000_000_000, 999_000_000, 1_002_000_000]
        #expect(
            times(of: lines.map { ($0, Self.moment) }) == ["09:05:08.000 ", "09:05:07.999 ", "09:05:08.002 "])
    }

    @Test("A wall clock that was set is followed in the next second")
    func setClock() {
        let hour = 3_600 * Self.second
        #expect(
            times(of: [
                (0, Self.moment), (400_000_000, Self.moment - hour), (1_000_000_000, Self.moment - hour),
                (2_000_000_000, Self.moment + hour),
            ]) == ["09:05:07.000 ", "09:05:07.400 ", "08:05:08.000 ", "10:05:09.000 "])
    }

    @Test("A wall clock from before 1970 is shown as it is")
    func before1970() {
        #expect(times(.json, of: [(0, -1_000_000)]) == ["{\"time\":\"1969-12-31T23:59:59.999Z\","])
    }
}
