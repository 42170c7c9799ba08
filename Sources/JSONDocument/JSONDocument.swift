import CJSON

/// An immutable JSON value with everything in it. Services hold them, and requests and responses carry them.
///
/// ```swift
/// let profile: JSONDocument = ["name": "Ada", "email": nil]
/// let changed = profile.merging(["email": "ada@example.org"])
/// changed[member: "email"]?.string  // "ada@example.org"
/// ```
///
/// Parsing is strict, see `init(parsing:comments:)`. Members are kept sorted by name, so equal documents serialise to
/// equal bytes, provided their numbers are written alike (`1` and `1.0` are equal and stay as they were written).
///
/// Copies are cheap, and so are parts: a document taken out of another shares its memory and keeps all of it alive.
public struct JSONDocument: Sendable {
    /// The tree that the value belongs to.
    var owner: Owner

    /// The value itself, somewhere inside the owner's tree.
    ///
    /// `nonisolated(unsafe)` because the compiler cannot see that nothing writes to a tree that documents share.
    nonisolated(unsafe) let value: OpaquePointer

    /// A whole tree of its own.
    init(_ owner: Owner) {
        self.owner = owner
        value = owner.root
    }

    /// A part of a tree.
    init(_ value: OpaquePointer, in owner: Owner) {
        self.owner = owner
        self.value = value
    }

    /// How deep arrays and objects may be nested in parsed text and in the result of a patch.
    public static let maximumDepth = Int(CJSON_MAXIMUM_DEPTH)
}

extension JSONDocument {
    /// Owns one tree and frees it with the last document that refers to a part of it.
    final class Owner: Sendable {
        /// Any thread reads it; only a document that shares it with no other writes to it, see `JSONDocument.value`.
        nonisolated(unsafe) let root: OpaquePointer

        /// Takes ownership of a value from a `cjson_` function.
        init(adopting root: OpaquePointer?) {
            guard let root else { outOfMemory() }
            self.root = root
        }

        deinit { cjson_free(root) }
    }
}

extension JSONDocument: Equatable {
    /// Equality of JSON values: numbers by value (`1` is `1.0`), objects whatever the order of their members.
    public static func == (one: JSONDocument, other: JSONDocument) -> Bool {
        one.isIdentical(to: other) || cjson_equal(one.value, other.value)
    }

    /// Whether both are one value in memory. Equal ones need not be.
    package func isIdentical(to other: JSONDocument) -> Bool { value == other.value }
}

extension JSONDocument: CustomStringConvertible {
    /// The document as JSON text.
    public var description: String { String(decoding: serialized(), as: UTF8.self) }
}

/// The kinds of JSON value. A number is an `integer` or a `double` by the way it is written (`1` or `1.0`).
public enum JSONKind: Sendable, Equatable {
    /// `bool` is `true` or `false`; the others are named as in RFC 8259.
    case null, bool, integer, double, string, array, object
}

extension JSONKind {
    /// As in "initial is a number".
    package var phrase: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .double: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// Ends the process, as Swift's own allocations do: a `cjson_` function that makes a value or a text fails only when
/// memory runs out.
func outOfMemory() -> Never { fatalError("Out of memory for JSON.") }

/// Reads the texts of `cjson_` functions.
enum JSONText {
    /// A copy of bytes that a C callback was given.
    static func string(_ start: UnsafePointer<UInt8>?, _ length: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }

    /// Text that a `cjson_` function has serialised. Copy it before this thread calls another one.
    static func serialized(_ text: UnsafePointer<UInt8>?, _ length: Int) -> UnsafeBufferPointer<UInt8> {
        guard let text else { outOfMemory() }
        return UnsafeBufferPointer(start: text, count: length)
    }

    /// Copies and frees a text; `nil` for NULL, which stands for a text that a failure does not have.
    static func string(adopting text: OpaquePointer?) -> String? {
        guard let text else { return nil }
        defer { cjson_text_free(text) }
        var length = 0
        let start = cjson_text_bytes(text, &length)
        return string(start, length)
    }
}
