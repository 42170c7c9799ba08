/// A reader of requests by the letter of RFC 9112, written without a look at how the server does it, and slow.
struct StrictReader {
    struct Request: Equatable {
        let method: String
        let target: String
        let body: [UInt8]
    }

    private struct Field {
        let name: String
        let value: [UInt8]
        /// Whether blanks stand behind the value.
        let isPadded: Bool
    }

    private struct Refused: Error {}
    private struct Unfinished: Error {}

    /// The requests of a connection, up to its end or to the first bytes that are none.
    private(set) var requests: [Request] = []
    /// A server may also end the connection before the request of this index: the RFC leaves the choice.
    private(set) var mayEndBefore = Int.max

    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        do {
            while place < bytes.count, try request() {}
        } catch {}
    }

    private mutating func noteChoice() { mayEndBefore = min(mayEndBefore, requests.count) }

    /// The next request; false when the connection ends behind it.
    private mutating func request() throws -> Bool {
        // Section 2.2: a server should ignore at least one empty line, and may take a lone LF for its end.
        let first = place
        while bytes[place...].starts(with: [13, 10]) || bytes[place...].first == 10 {
            place += bytes[place] == 13 ? 2 : 1
        }
        if place > first, bytes[first..<place] != [13, 10] { noteChoice() }
        let words = try line().split(separator: 32, omittingEmptySubsequences: false).map(Array.init)
        guard words.count == 3, Self.isToken(words[0]), words[2].count == 8,
            words[2].starts(with: Array("HTTP/1.".utf8)), Self.digits.contains(words[2][7])
        else { throw Refused() }
        let (method, is10) = (Self.text(words[0]), words[2][7] == Self.digits[0])
        guard Self.isTarget(words[1], of: method) else { throw Refused() }
        let fields = try fields()
        let hosts = fields.filter { $0.name == "host" }
        guard hosts.count == 1 || hosts.isEmpty && is10, hosts.allSatisfy({ Self.isHost($0.value) }) else {
            throw Refused()
        }
        let body = try body(fields, is10: is10)
        requests.append(Request(method: method, target: Self.text(words[1]), body: body))
        let options = fields.filter { $0.name == "connection" }.flatMap { Self.list($0.value) }
        // Section 9.3: whether HTTP/1.0 is kept open is the server's choice.
        if is10, options.contains("keep-alive") { noteChoice() }
        return !options.contains("close") && (!is10 || options.contains("keep-alive"))
    }

    /// Up to CR LF. Neither may stand alone, and NUL nowhere.
    private mutating func line() throws -> [UInt8] {
        var line: [UInt8] = []
        while place < bytes.count {
            switch bytes[place] {
            case 13:
                guard place + 1 < bytes.count else { throw Unfinished() }
                guard bytes[place + 1] == 10 else { throw Refused() }
                place += 2
                return line
            case 0, 10: throw Refused()
            case let byte: line.append(byte)
            }
            place += 1
        }
        throw Unfinished()
    }

    private mutating func fields() throws -> [Field] {
        var fields: [Field] = []
        while true {
            let line = try line()
            if line.isEmpty { return fields }
            guard let colon = line.firstIndex(of: 58), Self.isToken(Array(line[..<colon])) else { throw Refused() }
            let value = Self.trimmed(line[(colon + 1)...])
            guard value.allSatisfy(Self.isText) else { throw Refused() }
            fields.append(
                Field(
                    name: Self.text(Array(line[..<colon])).lowercased(), value: value,
                    isPadded: line.last == 32 || line.last == 9))
        }
    }

    /// Section 6.3.
    private mutating func body(_ fields: [Field], is10: Bool) throws -> [UInt8] {
        let lengths = fields.filter { $0.name == "content-length" }.map(\.value)
        let codings = fields.filter { $0.name == "transfer-encoding" }
        if !codings.isEmpty {
            guard lengths.isEmpty, !is10, codings.flatMap({ Self.list($0.value) }) == ["chunked"] else {
                throw Refused()
            }
            // Blanks behind it and empty elements are allowed. Not every version of the library reads them.
            if codings.count > 1 || codings[0].isPadded || codings[0].value.count != 7 { noteChoice() }
            return try chunks()
        }
        guard let length = lengths.first else { return [] }
        guard lengths.count == 1, !length.isEmpty, length.allSatisfy(Self.digits.contains), length.count <= 18,
            let size = Int(Self.text(length)), size <= 1 << 20
        else { throw Refused() }
        if fields.contains(where: { $0.name == "content-length" && $0.isPadded }) { noteChoice() }
        guard bytes.count - place >= size else { throw Unfinished() }
        defer { place += size }
        return Array(bytes[place..<place + size])
    }

    /// Section 7.1.
    private mutating func chunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let line = try line()
            let digits = line.prefix { Self.hexadecimal.contains($0) }
            guard !digits.isEmpty, digits.count <= 200, let size = Int(Self.text(Array(digits)), radix: 16),
                body.count + size <= 1 << 20, Self.areExtensions(Array(line[digits.count...]))
            else { throw Refused() }
            if size == 0 {
                _ = try fields()
                return body
            }
            guard bytes.count - place >= size else { throw Unfinished() }
            body += bytes[place..<place + size]
            place += size
            guard try self.line().isEmpty else { throw Refused() }
        }
    }

    /// Section 7.1.1: `*( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )`.
    private static func areExtensions(_ text: [UInt8]) -> Bool {
        var rest = text[...]
        func skipBlanks() { rest = rest.drop { $0 == 32 || $0 == 9 } }
        func takeToken() -> Bool {
            let token = rest.prefix { isToken([$0]) }
            rest = rest.dropFirst(token.count)
            return !token.isEmpty
        }
        while !rest.isEmpty {
            skipBlanks()
            guard rest.popFirst() == 59 else { return false }
            skipBlanks()
            guard takeToken() else { return false }
            let behind = rest
            skipBlanks()
            guard rest.first == 61 else {
                rest = behind
                continue
            }
            rest = rest.dropFirst()
            skipBlanks()
            guard rest.first == 34 else {
                guard takeToken() else { return false }
                continue
            }
            rest = rest.dropFirst()
            while rest.first != 34 {
                if rest.first == 92 { rest = rest.dropFirst() }
                guard let byte = rest.popFirst(), isText(byte) else { return false }
            }
            rest = rest.dropFirst()
        }
        return true
    }

    // MARK: Characters

    private static let digits = Array("0123456789".utf8)
    private static let hexadecimal = Array("0123456789abcdefABCDEF".utf8)
    private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    private static let token = Set(digits + letters + Array("!#$%&'*+-.^_`|~".utf8))
    private static let unreserved = Set(digits + letters + Array("-._~".utf8))
    private static let hostCharacters = unreserved.union(Array("!$&'()*+,;=%".utf8))
    private static let targetCharacters = hostCharacters.union(Array(":/?@[]".utf8))

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    private static func isToken(_ bytes: [UInt8]) -> Bool { !bytes.isEmpty && bytes.allSatisfy(token.contains) }
    private static func isText(_ byte: UInt8) -> Bool { byte >= 32 && byte != 127 || byte == 9 }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var rest = bytes.drop { $0 == 32 || $0 == 9 }
        while let last = rest.last, last == 32 || last == 9 { rest.removeLast() }
        return Array(rest)
    }

    private static func list(_ value: [UInt8]) -> [String] {
        value.split(separator: 44).map { text(trimmed($0)).lowercased() }.filter { !$0.isEmpty }
    }

    /// Section 3.2.
    private static func isTarget(_ target: [UInt8], of method: String) -> Bool {
        guard !target.isEmpty, target.allSatisfy(targetCharacters.contains) else { return false }
        if target[0] == 47 || method == "CONNECT" || target == [42] && method == "OPTIONS" { return true }
        let lowered = text(target).lowercased()
        guard let scheme = ["http://", "https://"].first(where: lowered.hasPrefix) else { return false }
        let authority = target.dropFirst(scheme.utf8.count).prefix { $0 != 47 && $0 != 63 }
        return !authority.isEmpty && isHost(Array(authority))
    }

    /// RFC 9110, section 7.2.
    private static func isHost(_ host: [UInt8]) -> Bool {
        if host.isEmpty { return true }
        var rest = host[...]
        if rest.first == 91 {
            let inside = rest.dropFirst().prefix { $0 != 93 }
            guard !inside.isEmpty, inside.allSatisfy({ (hexadecimal + [58, 46]).contains($0) }) else { return false }
            rest = rest.dropFirst(inside.count + 1)
            guard rest.popFirst() == 93 else { return false }
        } else {
            let name = rest.prefix { hostCharacters.contains($0) }
            guard !name.isEmpty else { return false }
            rest = rest.dropFirst(name.count)
        }
        if rest.isEmpty { return true }
        guard rest.popFirst() == 58, rest.count <= 5 else { return false }
        return rest.allSatisfy(digits.contains)
    }
}
