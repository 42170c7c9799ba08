import Testing

@testable import ConciergeApp
@testable import Operations

@Suite("Lines that repeat") struct LogLimitTests {
    @Test("one a second is written, and says how many were not")
    func limit() {
        let limit = LogLimit()
        let second: UInt64 = 1_000_000_000
        let admitted = stride(from: 5 * second, to: 8 * second, by: Int(second / 10)).map { limit.admit(at: $0) }
        #expect(admitted.count == 30)
        #expect(admitted.enumerated().filter { $1 != nil }.map(\.offset) == [0, 10, 20])
        #expect(admitted.compactMap(\.self) == [0, 9, 9])
        #expect(limit.admit(at: 20 * second) == 9)
        #expect(limit.admit(at: 30 * second) == 0)
    }
}
