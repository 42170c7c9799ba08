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
