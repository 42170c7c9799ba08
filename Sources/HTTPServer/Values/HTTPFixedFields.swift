/// Header fields that many answers begin with, put together once and kept for good.
///
/// ```swift
/// static let document = HTTPFixedFields([.contentType: "application/json", .cacheControl: "no-store"])
/// var response = HTTPResponse(.ok, fields: HTTPFields(.document), body: bytes)
/// ```
///
/// An array would be counted by everyone who answers, on every processor. This is memory that is never freed, so that
/// handing it on is free of that: make them as constants of the program, never while it serves.
public struct HTTPFixedFields: Sendable {
    /// As they go out. Written before anybody has it, and never again.
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    /// - Precondition: the fields can be sent.
    public init(_ fields: HTTPFields) {
        precondition(fields.isSendable, "fields of many answers cannot be sent: \(fields.lines)")
        let text = fields.wholeText
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
        copy.copyBytes(from: text)
        bytes = UnsafeRawBufferPointer(copy)
    }
}
