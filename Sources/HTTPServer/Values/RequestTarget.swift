/// The parts of a request target, RFC 9112, section 3.2: slices of what was sent.
struct RequestTarget {
    /// Starts with a slash, or is `*`.
    let path: ArraySlice<UInt8>
    /// Behind the question mark, if there is one.
    let query: ArraySlice<UInt8>?

    private static let slash = UInt8(ascii: "/")

    /// - Parameter target: in one of the forms that the transport lets through.
    init(_ target: ArraySlice<UInt8>) {
        var start = target.startIndex
        if let first = target.first, first != Self.slash, first != UInt8(ascii: "*"),
            let colon = target.firstIndex(of: UInt8(ascii: ":"))
        {
            // absolute-form: behind the authority. The authority-form of CONNECT may end before it would begin.
            start =
                target[colon...].dropFirst(3).firstIndex { $0 == Self.slash || $0 == UInt8(ascii: "?") }
                ?? target.endIndex
        }
        let mark = target[start...].firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        path = target[start..<mark]
        query = mark < target.endIndex ? target[(mark + 1)...] : nil
    }
}
