/// The parts of a request target, RFC 9112, section 3.2, as ranges of it.
struct RequestTarget {
    /// Starts with a slash, or is `*`.
    let path: Range<Int>
    /// Behind the question mark, if there is one.
    let query: Range<Int>?

    /// - Parameter target: in one of the forms that the transport lets through.
    init(_ target: UnsafeRawBufferPointer) {
        var start = 0
        if let first = target.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "*"),
            let colon = target.firstIndex(of: UInt8(ascii: ":"))
        {
            // absolute-form: behind the authority. The authority-form of CONNECT may end before it would begin.
            start =
                target[colon...].dropFirst(3).firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
                ?? target.count
        }
        let mark = target.offset(of: UInt8(ascii: "?"), from: start)
        path = start..<(mark ?? target.count)
        query = mark.map { $0 + 1..<target.count }
    }
}
