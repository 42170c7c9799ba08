/// What a segment of a path must not contain: a broken escape, an escaped slash or control character, bytes that are
/// not UTF-8, and `.` or `..`, which some proxies resolve and others do not.
enum PathSegment {
    enum Problem: Error {
        case brokenEscape, escapedSeparator, notUnicode, dots

        /// The detail of the client's error.
        var sentence: String {
            switch self {
            case .brokenEscape: "The path has a broken escape."
            case .escapedSeparator: "The path has an escaped slash or control character."
            case .notUnicode: "The path is not UTF-8."
            case .dots: "The path has a dot segment."
            }
        }
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
