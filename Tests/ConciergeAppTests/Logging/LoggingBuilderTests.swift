import Testing

@testable import ConciergeApp

@Suite("Building a line of the log")
struct LoggingBuilderTests {
    private func built(_ body: (inout LineBuilder) -> Void) -> String {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { memory in
            var line = LineBuilder(memory)
            body(&line)
            return String(decoding: line.bytes, as: UTF8.self)
        }
    }

    @Test(
        "Numbers have the digits they need",
        arguments: [
            0, 9, 10, 99, 100, 65_535, 99_999_999, 100_000_000, 100_000_001, 1_234_567_890_123, 10_000_000_000_000_000,
            .max,
        ] as [UInt64])
    func decimals(value: UInt64) {
        #expect(built { $0.appendDecimal(value) } == "\(value)")
        #expect(
            built { line in
                line.append("<")
                line.appendDecimal(value)
                line.append(">")
            } == "<\(value)>")
    }

    @Test("Three digits are three", arguments: [0, 7, 42, 100, 999] as [UInt32])
    func threeDigits(value: UInt32) {
        #expect(built { $0.appendThreeDigits(value) } == String(String(1_000 + value).dropFirst()))
    }

    @Test("Words have sixteen digits, in lower case")
    func hexadecimals() {
        #expect(built { $0.appendHexadecimal(0x0123_4567_89AB_CDEF) } == "0123456789abcdef")
        #expect(built { $0.appendHexadecimal(0xFEDC_BA98_7654_3210) } == "fedcba9876543210")
        #expect(built { $0.appendHexadecimal(10) } == "000000000000000a")
    }
}
