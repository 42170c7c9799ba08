extension JSONDocument {
    /// The value at a place, `nil` when there is none.
    ///
    /// Array indices are digits without leading zeros; `-`, the place after the last element, has no value.
    public func value(at pointer: JSONPointer) -> JSONDocument? {
        var place = self
        for token in pointer.tokens {
            let next = place.kind == .array ? Self.index(token).flatMap { place[$0] } : place[member: token]
            guard let next else { return nil }
            place = next
        }
        return place
    }

    private static func index(_ token: String) -> Int? {
        guard token == "0" || token.utf8.first != UInt8(ascii: "0"),
            token.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(token)
    }
}
