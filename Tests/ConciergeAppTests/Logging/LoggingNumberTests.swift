import Testing

@testable import ConciergeApp
@testable import Operations

@Suite("Numbers in a line of the log")
struct LoggingNumberTests {
    /// What a member's value is written as.
    private func written(_ add: (inout LogLine) -> Void) -> String {
        var line = LogLine(.text, .info, "x")
        add(&line)
        return String(decoding: line.bytes.drop { $0 != UInt8(ascii: "=") }.dropFirst(), as: UTF8.self)
    }

    @Test(
        "integers have the digits they need", arguments: [0, 9, 10, 99, 65_535, 1_234_567_890_123, .max, -1, .min])
    func integers(value: Int) {
        #expect(written { $0.add("n", value) } == "\(value)")
    }

    @Test(
        "durations are milliseconds with three decimals",
        arguments: [(0, "0.000"), (7, "0.007"), (42, "0.042"), (999, "0.999"), (12_345_678, "12345.678")]
            as [(UInt64, String)])
    func durations(microseconds: UInt64, text: String) {
        #expect(written { $0.add("t", microseconds: microseconds) } == text)
    }

    @Test("ids have 32 digits in lower case behind their prefix")
    func ids() {
        #expect(
            written { $0.add("id", "ses_", high: 0x0123_4567_89AB_CDEF, low: 10) }
                == "ses_0123456789abcdef000000000000000a")
    }
}
