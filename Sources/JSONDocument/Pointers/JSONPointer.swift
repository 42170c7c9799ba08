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
        var escaped: [UInt8] = []
        for byte in token.utf8 {
            switch byte {
            case UInt8(ascii: "~"): escaped.append(contentsOf: "~0".utf8)
            case UInt8(ascii: "/"): escaped.append(contentsOf: "~1".utf8)
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func unescape(_ part: Substring.UTF8View) -> String? {
        var token: [UInt8] = []
        var bytes = part.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "~") else {
                token.append(byte)
                continue
            }
            switch bytes.next() {
            case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
            default: return nil
            }
        }
        return String(decoding: token, as: UTF8.self)
    }
}

extension JSONPointer: CustomStringConvertible {
    /// The pointer as RFC 6901 writes it.
    public var description: String { tokens.map { "/" + Self.escape($0) }.joined() }
}
