import CMicroHTTPD
import Glibc

/// The header fields of a response, in the order in which they are sent.
///
/// They are kept as the bytes that are sent. A line is checked once, when it is added. Fixed lines come first and an
/// entity tag comes last, each in a short form of its own. A malformed field is left out, and `isWellFormed` becomes
/// false.
public struct HTTPFields: Sendable {
    /// The lines that come first, if any.
    private(set) var fixed: HTTPFixedFields?
    /// Name, colon, blank, value, CR LF; repeated.
    private(set) var text: [UInt8] = []
    /// The entity tag that comes last, if any.
    private(set) var entityTag: UInt64?
    /// False after a value was added that is empty or contains a control character, or a field that only the transport
    /// may set. The server then sends an error instead of the response.
    public private(set) var isWellFormed = true

    /// Room for the fields of most responses.
    private static let usualBytes = 224

    /// Starts without fields.
    public init() {}

    /// From lines that ``wholeText`` returned.
    package init(wholeText: [UInt8]) { text = wholeText }

    /// Begins with fixed lines.
    public init(_ fixed: HTTPFixedFields) { self.fixed = fixed }

    /// All fields, in the order in which they are sent.
    public var lines: [(name: HTTPFieldName, value: String)] {
        var lines: [(name: HTTPFieldName, value: String)] = []
        forEachLine { name, value, _ in
            let name = HTTPFieldName(String(decoding: name, as: UTF8.self))
            lines.append((name, String(decoding: value, as: UTF8.self)))
        }
        return lines
    }

    /// The first value of the name. Setting it replaces every line of the name; `nil` removes them.
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
            // The lines that were fixed are among the lines that are kept.
            let wasWellFormed = isWellFormed
            self = HTTPFields()
            isWellFormed = wasWellFormed
            text = kept
            if let newValue { add(name, newValue) }
        }
    }

    /// Adds lines that are well-formed.
    mutating func add(_ fields: HTTPFields) {
        writeEntityTag()
        text += fields.text
    }

    /// Adds a line without looking for others: the fast way for a name that is not there yet, and the only way for
    /// names that may occur twice, such as `Set-Cookie`.
    public mutating func add(_ name: HTTPFieldName, _ value: String) {
        guard !name.isTransports else {
            isWellFormed = false
            return
        }
        writeEntityTag()
        value.utf8.span.withUnsafeBufferPointer { append(name.bytes, $0) }
    }

    /// Adds the lines of others by copying bytes: the cheap way to add constant fields.
    public mutating func add(contentsOf others: HTTPFields) {
        if !others.isWellFormed { isWellFormed = false }
        writeEntityTag()
        reserve()
        if let fixed = others.fixed { text += fixed.bytes }
        text += others.text
        if let tag = others.entityTag { add(entityTag: tag) }
    }

    /// Replaces the fixed lines if they are `old`.
    /// - Returns: whether they were.
    package mutating func replace(_ old: HTTPFixedFields, with new: HTTPFixedFields) -> Bool {
        guard fixed?.bytes.baseAddress == old.bytes.baseAddress else { return false }
        fixed = new
        return true
    }

    /// Adds an `ETag` that is a number in quotes. It stays a number until the response is sent, so a response with
    /// fixed lines and such a tag needs no memory for its fields.
    public mutating func add(entityTag number: UInt64) {
        writeEntityTag()
        entityTag = number
    }

    /// Writes the entity tag as a line, so that a further line comes after it.
    private mutating func writeEntityTag() {
        guard let tag = entityTag else { return }
        entityTag = nil
        add(.etag, "\"\(tag)\"")
    }

    /// All lines as they are sent.
    package var wholeText: [UInt8] {
        var copy = self
        copy.writeEntityTag()
        return Array(fixed?.bytes ?? .init(start: nil, count: 0)) + copy.text
    }

    private mutating func reserve() {
        if text.isEmpty { text.reserveCapacity(Self.usualBytes) }
    }

    private mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        // HTTP allows an empty value, but libraries drop it.
        guard let nameBytes = name.baseAddress, let valueBytes = value.baseAddress, !value.isEmpty,
            cmhd_is_field_value(valueBytes, value.count)
        else {
            isWellFormed = false
            return
        }
        reserve()
        // At once: four appendings take three times as long.
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

    /// - Parameter body: gets the name, the value and the whole of each line.
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

/// Header fields that many responses begin with, written once and never freed.
///
/// ```swift
/// static let document = HTTPFixedFields([.contentType: "application/json", .cacheControl: "no-store"])
/// var response = HTTPResponse(.ok, fields: HTTPFields(.document), body: bytes)
/// ```
///
/// Every response would count references to an array, on every processor. This memory is never freed, so passing it on
/// is free. Make them as constants of the program, never while it serves.
public struct HTTPFixedFields: Sendable {
    /// The bytes that are sent. Written before any other code has them, and never again.
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    /// - Precondition: the fields are well-formed.
    public init(_ fields: HTTPFields) {
        precondition(fields.isWellFormed, "fixed fields are malformed: \(fields.lines)")
        let text = fields.wholeText
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
        copy.copyBytes(from: text)
        bytes = UnsafeRawBufferPointer(copy)
    }
}
