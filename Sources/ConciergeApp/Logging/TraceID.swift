import HTTPServer

/// The trace that a request belongs to, from its `traceparent`: W3C Trace Context, section 3.2.
struct TraceID: Sendable, Equatable {
    let high: UInt64
    let low: UInt64

    static let fieldName = HTTPFieldName("traceparent")

    /// Nil unless there is exactly one field, and a valid one.
    init?(_ fields: HTTPRequestFields) {
        guard fields.count(of: Self.fieldName) == 1, let value = fields.bytes(of: Self.fieldName) else { return nil }
        self.init(traceparent: value)
    }

    /// Reads `00-<32 digits>-<16 digits>-<2 digits>`, digits in lower case; later versions may go on after a dash.
    init?(traceparent: ArraySlice<UInt8>) {
        let parsed: (high: UInt64, low: UInt64)? = traceparent.withUnsafeBufferPointer { text in
            let dash = UInt8(ascii: "-")
            guard text.count >= 55, text[2] == dash, text[35] == dash, text[52] == dash,
                let version = Self.number(text, 0..<2), version != 0xFF,
                text.count == 55 || (version != 0 && text[55] == dash),
                let high = Self.number(text, 3..<19), let low = Self.number(text, 19..<35), high | low != 0,
                let parent = Self.number(text, 36..<52), parent != 0, Self.number(text, 53..<55) != nil
            else { return nil }
            return (high, low)
        }
        guard let parsed else { return nil }
        (high, low) = parsed
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for index in range {
            switch text[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(text[index] - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                number = number << 4 | UInt64(text[index] - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}
