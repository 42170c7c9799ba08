/// What may not be in a segment of a path: a broken escape, an escaped slash or control character, what is not UTF-8,
/// and `.` or `..`, which some proxies resolve and others do not.
enum PathSegment {
    struct Problem: Error {
        /// For the client.
        let sentence: String
    }

    static var dots: Problem { Problem(sentence: "The path has a dot segment.") }

    static func decode(_ raw: UnsafeRawBufferPointer) -> Result<[UInt8], Problem> {
        func problem(_ sentence: String) -> Result<[UInt8], Problem> { .failure(Problem(sentence: sentence)) }
        guard let bytes = PercentEncoding.decode(ArraySlice(raw)) else {
            return problem("The path has a broken escape.")
        }
        if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }) {
            return problem("The path has an escaped slash or control character.")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else { return problem("The path is not UTF-8.") }
        return bytes.withUnsafeBytes(isDots) ? .failure(dots) : .success(bytes)
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
