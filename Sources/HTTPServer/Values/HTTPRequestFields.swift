/// The header fields of a request, in the order in which they were sent.
public struct HTTPRequestFields: Sendable {
    let head: HTTPHead

    /// How many lines there are. A name may occur more than once.
    public var count: Int { head.fieldCount }

    /// The value of the first field of the name. Bytes that are not UTF-8 are replaced.
    public subscript(name: HTTPFieldName) -> String? {
        bytes(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value of the first field of the name as it was sent, without copying it.
    public func bytes(of name: HTTPFieldName) -> ArraySlice<UInt8>? {
        let place = head.place(of: name)
        return place.count == 0 ? nil : head.value(Int(place.first))
    }

    /// Calls `body` with the value of the first field of the name as it was sent, if there is one. It counts and copies
    /// nothing, so it suits fields that every request is asked for.
    public func withValue(of name: HTTPFieldName, _ body: (UnsafeRawBufferPointer) -> Void) {
        let place = head.place(of: name)
        if place.count > 0 { head.withValue(Int(place.first), body) }
    }

    /// The value of the only field of the name, as it was sent.
    public func only(_ name: HTTPFieldName) -> Single {
        let place = head.place(of: name)
        return switch place.count {
        case 0: .none
        case 1: .one(head.value(Int(place.first)))
        default: .several
        }
    }

    /// The occurrences of a field that may be sent once.
    public enum Single: Sendable {
        /// The request does not have the field.
        case none
        /// The value of the one field.
        case one(ArraySlice<UInt8>)
        /// The field is repeated, which its user has to refuse.
        case several
    }

    /// The values of every field of the name.
    public func values(of name: HTTPFieldName) -> [String] {
        let place = head.place(of: name)
        guard place.count > 0 else { return [] }
        return (Int(place.first)..<head.fieldCount).filter { head.isNamed(name, $0) }
            .map { String(decoding: head.value($0), as: UTF8.self) }
    }

    /// How many lines have the name.
    public func count(of name: HTTPFieldName) -> Int { Int(head.place(of: name).count) }

    /// Whether there is a field of the name.
    public func contains(_ name: HTTPFieldName) -> Bool { count(of: name) > 0 }
}
