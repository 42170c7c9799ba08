/// A place in a JSON document (RFC 6901).
///
/// ```swift
/// JSONPointer(parsing: "/attributes/a~1b")?.tokens  // ["attributes", "a/b"]
/// JSONPointer.root.appending("errors").appending(0).description  // "/errors/0"
/// ```
public struct JSONPointer: Hashable, Sendable {
    /// Member names and array indices from the outside in, unescaped.
    public var tokens: [String]

    /// A pointer of unescaped tokens; without any it points to the whole document.
    public init(_ tokens: [String] = []) { self.tokens = tokens }

    /// The whole document.
    public static let root = JSONPointer()

    /// `nil` when `text` is not a pointer: it neither is empty nor begins with `/`, or has a `~` that is not part of
    /// `~0` or `~1`.
    public init?(parsing text: String) {
        tokens = []
        guard !text.isEmpty else { return }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let first = parts.first, first.isEmpty else { return nil }
        for part in parts.dropFirst() {
            guard let token = Self.unescape(part) else { return nil }
            tokens.append(token)
        }
    }

    /// The pointer to a member of what this one points to.
    public func appending(_ token: String) -> JSONPointer { JSONPointer(tokens + [token]) }

    /// The place that `pointer` names inside this one.
    package func appending(below pointer: String) -> JSONPointer {
        JSONPointer(tokens + (JSONPointer(parsing: pointer)?.tokens ?? []))
    }

    /// The pointer to an element of what this one points to.
    public func appending(_ index: Int) -> JSONPointer { appending(String(index)) }

    /// A token as it is written between slashes: `~` as `~0`, `/` as `~1`.
    public static func escape(_ token: String) -> String {
        guard token.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return token }
        let escaped = Array(token.utf8).replacing("~".utf8, with: "~0".utf8).replacing("/".utf8, with: "~1".utf8)
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func unescape(_ part: Substring.UTF8View) -> String? {
        let parts = part.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        guard parts.dropFirst().allSatisfy({ [UInt8(ascii: "0"), UInt8(ascii: "1")].contains($0.first) }) else {
            return nil
        }
        let rest = parts.dropFirst().flatMap { part in
            [part.first == UInt8(ascii: "0") ? UInt8(ascii: "~") : UInt8(ascii: "/")] + part.dropFirst()
        }
        return String(decoding: Array(parts[0]) + rest, as: UTF8.self)
    }
}

extension JSONPointer: CustomStringConvertible {
    /// The pointer as RFC 6901 writes it.
    public var description: String { tokens.map { "/" + Self.escape($0) }.joined() }
}

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
