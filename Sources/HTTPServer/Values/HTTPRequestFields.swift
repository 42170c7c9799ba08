/// The header fields of a request, in the order they came in, looked up where they lie.
public struct HTTPRequestFields: Sendable {
    let head: HTTPHead

    /// How many lines there are; a name may come more than once.
    public var count: Int { head.fieldCount }

    /// The value of the first field of that name. Bytes that are not UTF-8 are replaced.
    public subscript(name: HTTPFieldName) -> String? {
        bytes(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value of the first field of that name as it was sent, without copying it.
    public func bytes(of name: HTTPFieldName) -> ArraySlice<UInt8>? {
        head.index(of: name).map(head.value)
    }

    /// The value of the only field of that name, as it was sent.
    public func only(_ name: HTTPFieldName) -> Single {
        guard let index = head.index(of: name) else { return .none }
        return head.index(of: name, from: index + 1) == nil ? .one(head.value(index)) : .several
    }

    /// What there is of a field that may come once.
    public enum Single: Sendable {
        case none
        case one(ArraySlice<UInt8>)
        case several
    }

    /// The values of every field of that name.
    public func values(of name: HTTPFieldName) -> [String] {
        var found: [String] = []
        var start = 0
        while let index = head.index(of: name, from: start) {
            found.append(String(decoding: head.value(index), as: UTF8.self))
            start = index + 1
        }
        return found
    }

    /// How many lines carry that name.
    public func count(of name: HTTPFieldName) -> Int {
        var count = 0
        var start = 0
        while let index = head.index(of: name, from: start) {
            count += 1
            start = index + 1
        }
        return count
    }
}
