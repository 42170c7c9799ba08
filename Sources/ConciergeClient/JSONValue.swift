import Foundation

/// Any JSON, such as the data of an event. Literals make it: `["name": "Ada", "email": nil]`.
public enum JSONValue: Codable, Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction that fits into 64 bits.
    case integer(Int)
    /// Any other number.
    case number(Double)
    /// A text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// Members by their names.
    case object([String: JSONValue])

    /// What a value of yours looks like as JSON.
    public init(encoding value: some Encodable) throws {
        self = try JSON.decoder.decode(JSONValue.self, from: JSON.encoder.encode(value))
    }

    /// An object of those members that are not `nil`.
    static func object(given members: [String: JSONValue?]) -> JSONValue { .object(members.compactMapValues(\.self)) }

    /// Reads one of the types of JSON; a `Decoder` does not say which one it has.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Writes the value without its case.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The value as a type of yours.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSON.decoder.decode(type, from: JSON.encoder.encode(self))
    }

    /// A member of an object, `nil` if there is none.
    public subscript(_ member: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[member]
    }

    /// The text, `nil` if this is none.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The operations of JSON Patch (RFC 6902) that make `other` of this value. Only what differs is in them, so
    /// members that neither value has stay as they are.
    func patch(to other: JSONValue, at path: String = "") -> [JSONValue] {
        guard self != other else { return [] }
        guard case .object(let old) = self, case .object(let new) = other else {
            return [["op": "add", "path": .string(path), "value": other]]
        }
        return Set(old.keys).union(new.keys).sorted().flatMap { name -> [JSONValue] in
            let place = "\(path)/\(name.replacing("~", with: "~0").replacing("/", with: "~1"))"
            switch (old[name], new[name]) {
            case (let before?, let after?): return before.patch(to: after, at: place)
            case (_?, nil): return [["op": "remove", "path": .string(place)]]
            case (nil, let after): return [["op": "add", "path": .string(place), "value": after ?? .null]]
            }
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

/// How values are read and written. Times are RFC 3339, with or without a fraction of a second.
enum JSON {
    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
            return try Date(text, strategy: style)
        }
        return decoder
    }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        }
        return encoder
    }
}
