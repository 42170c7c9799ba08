import HTTPServer
import Sessions

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
        let text = Array(traceparent)
        let dash = UInt8(ascii: "-")
        guard text.count >= 55, text[2] == dash, text[35] == dash, text[52] == dash,
            let version = Hexadecimal.word(text[0..<2]), version != 0xFF,
            text.count == 55 || (version != 0 && text[55] == dash),
            let high = Hexadecimal.word(text[3..<19]), let low = Hexadecimal.word(text[19..<35]), high | low != 0,
            let parent = Hexadecimal.word(text[36..<52]), parent != 0, Hexadecimal.word(text[53..<55]) != nil
        else { return nil }
        self.high = high
        self.low = low
    }
}
