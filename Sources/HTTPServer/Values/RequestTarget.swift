import Glibc

/// The parts of a request target, RFC 9112, section 3.2, as ranges of it.
struct RequestTarget {
    /// The host, and the port if there is one, of the absolute-form.
    let authority: Range<Int>?
    /// Begins with a slash, or is `*`.
    let path: Range<Int>
    /// After the question mark, if there is one.
    let query: Range<Int>?

    /// - Parameter target: in one of the forms that the transport accepts.
    init(_ target: UnsafeRawBufferPointer) {
        var start = 0
        var authority: Range<Int>?
        if let first = target.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "*"),
            let colon = target.firstIndex(of: UInt8(ascii: ":"))
        {
            // absolute-form: after the authority. The authority-form of CONNECT may be shorter.
            start =
                target[colon...].dropFirst(3).firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
                ?? target.count
            authority = min(colon + 3, start)..<start
        }
        self.authority = authority
        let mark = target.offset(of: UInt8(ascii: "?"), from: start)
        path = start..<(mark ?? target.count)
        query = mark.map { $0 + 1..<target.count }
    }
}

/// The arguments of a query in the form that HTML forms send, `a=1&b=2`, in their order.
public struct QueryArguments: Sendable {
    /// All arguments, decoded, in their order; a name may occur more than once.
    public let all: [(name: String, value: String)]

    init(_ query: ArraySlice<UInt8>?) throws(HTTPError) {
        var all: [(name: String, value: String)] = []
        for part in (query ?? []).split(separator: UInt8(ascii: "&")) {
            let mark = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let value = mark < part.endIndex ? part[(mark + 1)...] : part[part.endIndex...]
            all.append((try Self.text(part[..<mark]), try Self.text(value)))
        }
        self.all = all
    }

    /// The first value of that name.
    public subscript(name: String) -> String? { all.first { $0.name == name }?.value }

    private static func text(_ raw: ArraySlice<UInt8>) throws(HTTPError) -> String {
        guard let bytes = PercentEncoding.decode(raw, plusIsBlank: true),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw .badTarget("The query has an escape that is broken or is not UTF-8.") }
        return text
    }
}

/// Percent-decoding, RFC 3986, section 2.1: once, and strictly.
enum PercentEncoding {
    /// The bytes that the text stands for; `nil` when an escape is not two hexadecimal digits.
    static func decode(_ text: ArraySlice<UInt8>, plusIsBlank: Bool = false) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < text.endIndex, let high = digit(text[index + 1]), let low = digit(text[index + 2])
                else { return nil }
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Where the byte first occurs, from `start` on. It compares many bytes at a time, which `firstIndex(of:)` does
    /// not.
    func offset(of byte: UInt8, from start: Int = 0) -> Int? {
        guard let base = baseAddress, start < count, let found = memchr(base + start, Int32(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }
}

/// What a segment of a path must not contain: a broken escape, an escaped slash or control character, bytes that are
/// not UTF-8, and `.` or `..`, which some proxies resolve and others do not.
enum PathSegment {
    /// Each with the detail of the client's error.
    enum Problem: String, Error {
        case brokenEscape = "The path has a broken escape."
        case escapedSeparator = "The path has an escaped slash or control character."
        case notUnicode = "The path is not UTF-8."
        case dots = "The path has a dot segment."
    }

    static func decode(_ raw: UnsafeRawBufferPointer) -> Result<[UInt8], Problem> {
        guard let bytes = PercentEncoding.decode(ArraySlice(raw)) else { return .failure(.brokenEscape) }
        if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }) {
            return .failure(.escapedSeparator)
        }
        guard String(validating: bytes, as: UTF8.self) != nil else { return .failure(.notUnicode) }
        return bytes.withUnsafeBytes(isDots) ? .failure(.dots) : .success(bytes)
    }

    static func isDots(_ segment: UnsafeRawBufferPointer) -> Bool {
        segment.first == UInt8(ascii: ".") && segment.count <= 2 && segment.last == UInt8(ascii: ".")
    }

    static func firstProblem(_ path: UnsafeRawBufferPointer, from start: Int) -> Problem? {
        guard start <= path.count else { return nil }
        for segment in path[start...].split(separator: UInt8(ascii: "/")) {
            if case .failure(let problem) = decode(UnsafeRawBufferPointer(rebasing: segment)) { return problem }
        }
        return nil
    }
}
