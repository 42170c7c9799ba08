import CMicroHTTPD
import Glibc

/// The header fields of an answer, in the order they will be sent.
///
/// They are kept as the text that goes out, in one block: a line is checked when it is added, and nobody looks at it
/// again. What HTTP cannot carry is left out and remembered, see `isSendable`.
public struct HTTPFields: Sendable {
    public struct Line: Sendable {
        public let name: HTTPFieldName
        public let value: String
    }

    /// Name, colon, blank, value, CR LF; and so on.
    private(set) var text: [UInt8] = []
    /// False once somebody added a value that is empty or has a control character in it, or a field that is the
    /// transport's to set: the answer is a mistake then, and not given.
    public private(set) var isSendable = true

    /// Room for the fields of most answers.
    private static let usualBytes = 224

    public init() {}

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
            text = kept
            if let newValue { add(name, newValue) }
        }
    }

    /// Adds a line, whatever is there: the fast way where the name is known to be new, and the only one for
    /// names that may come twice, such as `Set-Cookie`.
    public mutating func add(_ name: HTTPFieldName, _ value: String) {
        guard !name.isTransports else {
            isSendable = false
            return
        }
        let name = name.text.utf8.span
        let value = value.utf8.span
        name.withUnsafeBufferPointer { name in
            value.withUnsafeBufferPointer { value in append(name, value) }
        }
    }

    /// Adds the lines of others, which costs next to nothing: the way to fields that are always the same.
    public mutating func add(contentsOf others: HTTPFields) {
        reserve()
        text.append(contentsOf: others.text)
        if !others.isSendable { isSendable = false }
    }

    private mutating func reserve() {
        if text.isEmpty { text.reserveCapacity(Self.usualBytes) }
    }

    private mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        // An empty value is no mistake in HTTP, but libraries drop it.
        guard let nameBytes = name.baseAddress, let valueBytes = value.baseAddress, !value.isEmpty,
            cmhd_is_field_value(valueBytes, value.count)
        else {
            isSendable = false
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
        text.withUnsafeBytes { text in
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
        for (name, value) in elements { add(name, value) }
    }
}
