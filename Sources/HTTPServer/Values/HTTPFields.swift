import CMicroHTTPD
import Glibc

/// The header fields of an answer, in the order they will be sent.
///
/// They are kept as the text that goes out: a line is checked when it is added, and nobody looks at it again. Lines that
/// are fixed come first and an entity tag comes last, each in its own short form. What HTTP cannot carry is left out and remembered, see `isWellFormed`.
public struct HTTPFields: Sendable {
    /// One field line: a name and a value.
    public struct Line: Sendable {
        /// The name of the field.
        public let name: HTTPFieldName
        /// The value of the field.
        public let value: String
    }

    /// What comes first, if anything.
    private(set) var fixed: HTTPFixedFields?
    /// Name, colon, blank, value, CR LF; and so on.
    private(set) var text: [UInt8] = []
    /// What comes last, if anything.
    private(set) var entityTag: UInt64?
    /// False once somebody added a value that is empty or has a control character in it, or a field that is the
    /// transport's to set: the answer is a mistake then, and not given.
    public private(set) var isWellFormed = true

    /// Room for the fields of most answers.
    private static let usualBytes = 224

    /// Starts without fields.
    public init() {}

    /// From lines that ``wholeText`` gave.
    package init(wholeText: [UInt8]) { text = wholeText }

    /// Begins with those.
    public init(_ fixed: HTTPFixedFields) { self.fixed = fixed }

    /// All fields, in the order in which they are sent.
    public var lines: [Line] {
        var lines: [Line] = []
        forEachLine { name, value, _ in
            let name = HTTPFieldName(String(decoding: name, as: UTF8.self))
            lines.append(Line(name: name, value: String(decoding: value, as: UTF8.self)))
        }
        return lines
    }

    /// The first value of that name; setting it replaces every line of the name, or removes them.
    public subscript(name: HTTPFieldName) -> String? {
        get {
            var found: String?
            forEachLine { other, value, _ in
                if found == nil, name.isSame(as: other) { found = String(decoding: value, as: UTF8.self) }
            }
            return found
        }
        set {
            var kept: [UInt8] = []
            forEachLine { other, _, line in
                if !name.isSame(as: other) { kept.append(contentsOf: line) }
            }
            // The lines that were fixed are among those that are kept.
            let wasWellFormed = isWellFormed
            self = HTTPFields()
            isWellFormed = wasWellFormed
            text = kept
            if let newValue { add(name, newValue) }
        }
    }

    /// Adds a line, whatever is there: the fast way where the name is known to be new, and the only one for
    /// names that may come twice, such as `Set-Cookie`.
    public mutating func add(_ name: HTTPFieldName, _ value: String) {
        guard !name.isTransports else {
            isWellFormed = false
            return
        }
        writeEntityTag()
        value.utf8.span.withUnsafeBufferPointer { append(name.bytes, $0) }
    }

    /// Adds the lines of others, which costs next to nothing: the way to fields that are always the same.
    public mutating func add(contentsOf others: HTTPFields) {
        if !others.isWellFormed { isWellFormed = false }
        writeEntityTag()
        reserve()
        if let fixed = others.fixed { text += fixed.bytes }
        text += others.text
        if let tag = others.entityTag { add(entityTag: tag) }
    }

    /// Begins with other fixed lines, if it begins with `old`.
    /// - Returns: whether it did.
    package mutating func replace(_ old: HTTPFixedFields, with new: HTTPFixedFields) -> Bool {
        guard fixed?.bytes.baseAddress == old.bytes.baseAddress else { return false }
        fixed = new
        return true
    }

    /// Adds an `ETag` that is a number in quotes. It stays a number until the answer is put together: an answer with
    /// lines that are fixed, and such a tag, takes no memory for its fields.
    public mutating func add(entityTag number: UInt64) {
        writeEntityTag()
        entityTag = number
    }

    /// Makes a line of the tag: what is added next comes behind it.
    private mutating func writeEntityTag() {
        guard let tag = entityTag else { return }
        entityTag = nil
        add(.etag, "\"\(tag)\"")
    }

    /// All lines as they go out.
    package var wholeText: [UInt8] {
        var copy = self
        copy.writeEntityTag()
        return Array(fixed?.bytes ?? .init(start: nil, count: 0)) + copy.text
    }

    private mutating func reserve() {
        if text.isEmpty { text.reserveCapacity(Self.usualBytes) }
    }

    private mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        // An empty value is no mistake in HTTP, but libraries drop it.
        guard let nameBytes = name.baseAddress, let valueBytes = value.baseAddress, !value.isEmpty,
            cmhd_is_field_value(valueBytes, value.count)
        else {
            isWellFormed = false
            return
        }
        reserve()
        let size = name.count + value.count + 4
        text.append(addingCapacity: size) { room in
            room.withUnsafeMutableBufferPointer { room, written in
                guard let line = room.baseAddress else { return }
                memcpy(line, nameBytes, name.count)
                line[name.count] = UInt8(ascii: ":")
                line[name.count + 1] = UInt8(ascii: " ")
                memcpy(line + name.count + 2, valueBytes, value.count)
                line[size - 2] = UInt8(ascii: "\r")
                line[size - 1] = UInt8(ascii: "\n")
                written = size
            }
        }
    }

    /// - Parameter body: is given the name, the value and the whole of each line.
    private func forEachLine(
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
    ) {
        wholeText.withUnsafeBytes { text in
            var rest = text[...]
            while let colon = rest.firstIndex(of: UInt8(ascii: ":")), let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            {
                body(
                    UnsafeRawBufferPointer(rebasing: rest[..<colon]),
                    UnsafeRawBufferPointer(rebasing: rest[(colon + 2)..<(end - 1)]),
                    UnsafeRawBufferPointer(rebasing: rest[...end]))
                rest = rest[(end + 1)...]
            }
        }
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
        self.init()
        for (name, value) in elements { add(name, value) }
    }
}

/// Header fields that many answers begin with, put together once and kept for good.
///
/// ```swift
/// static let document = HTTPFixedFields([.contentType: "application/json", .cacheControl: "no-store"])
/// var response = HTTPResponse(.ok, fields: HTTPFields(.document), body: bytes)
/// ```
///
/// An array would be counted by everyone who answers, on every processor. This is memory that is never freed, so that
/// handing it on is free of that: make them as constants of the program, never while it serves.
public struct HTTPFixedFields: Sendable {
    /// As they go out. Written before anybody has it, and never again.
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    /// - Precondition: the fields can be sent.
    public init(_ fields: HTTPFields) {
        precondition(fields.isWellFormed, "fixed fields are malformed: \(fields.lines)")
        let text = fields.wholeText
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
        copy.copyBytes(from: text)
        bytes = UnsafeRawBufferPointer(copy)
    }
}
