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
