import JSONDocument

/// A parsed JSON file with comments, with the positions of its values.
struct JSONFile {
    let path: String
    let document: JSONDocument
    private let bytes: [UInt8]
    private let places: JSONPlaces

    /// - Throws: a problem with the file's name and, for text that is not JSON, line and column.
    init(reading path: String, with files: FileReader) throws(ConfigurationProblem) {
        let bytes: [UInt8]
        do {
            bytes = try files.read(path)
        } catch {
            throw ConfigurationProblem(at: .file(path), code: error.code, "\(error)")
        }
        try self.init(path: path, bytes: bytes)
    }

    /// - Throws: a problem with line and column.
    init(path: String, bytes: [UInt8]) throws(ConfigurationProblem) {
        do {
            document = try JSONDocument(parsing: bytes, comments: true)
        } catch {
            let place = JSONSourceLocation(offset: error.offset, in: bytes)
            throw ConfigurationProblem(
                at: .file(path: path, line: place.line, column: place.column), pointer: error.pointer ?? "",
                code: "invalid_json", error.clause(in: bytes))
        }
        self.path = path
        self.bytes = bytes
        places = JSONPlaces(of: bytes)
    }

    /// The line and column of the value at the pointer, or of the nearest existing value around it.
    func origin(of pointer: JSONPointer) -> ValueOrigin {
        var tokens = pointer.tokens
        while true {
            if let offset = places.offset(of: JSONPointer(tokens)) {
                let place = JSONSourceLocation(offset: offset, in: bytes)
                return .file(path: path, line: place.line, column: place.column)
            }
            if tokens.popLast() == nil { return .file(path) }
        }
    }
}

/// The positions of the values in a JSON text.
///
/// The parser reports where a bad text is wrong, but not where the values of a good one are. This walks a text that
/// **has been parsed already**, so it need not check brackets and quotation marks. In a text that is not JSON it stops
/// early, and later positions are unknown.
struct JSONPlaces {
    private var offsets: [JSONPointer: Int] = [:]

    init(of bytes: [UInt8]) {
        var walk = Walk(bytes: bytes)
        walk.value(at: .root)
        offsets = walk.offsets
    }

    /// The offset of the first byte of a value; for a member, the first byte of its name.
    func offset(of pointer: JSONPointer) -> Int? { offsets[pointer] }

    private struct Walk {
        let bytes: [UInt8]
        var position = 0
        var offsets: [JSONPointer: Int] = [:]

        var current: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func value(at pointer: JSONPointer) {
            skipBlanks()
            // A member already has the position of its name.
            if offsets[pointer] == nil { offsets[pointer] = position }
            switch current {
            case UInt8(ascii: "{"): object(at: pointer)
            case UInt8(ascii: "["): array(at: pointer)
            case UInt8(ascii: "\""): _ = string()
            default: scalar()
            }
            skipBlanks()
        }

        private mutating func object(at pointer: JSONPointer) {
            position += 1
            skipBlanks()
            while current == UInt8(ascii: "\"") {
                let start = position
                guard let name = string() else { return }
                let member = pointer.appending(name)
                offsets[member] = start
                skipBlanks()
                guard current == UInt8(ascii: ":") else { return }
                position += 1
                value(at: member)
                if current == UInt8(ascii: ",") { position += 1 }
                skipBlanks()
            }
            position += 1
        }

        private mutating func array(at pointer: JSONPointer) {
            position += 1
            skipBlanks()
            var index = 0
            while let byte = current, byte != UInt8(ascii: "]") {
                value(at: pointer.appending(index))
                index += 1
                guard current == UInt8(ascii: ",") else { break }
                position += 1
            }
            position += 1
        }

        private mutating func string() -> String? {
            let start = position
            position += 1
            while let byte = current, byte != UInt8(ascii: "\"") {
                position += byte == UInt8(ascii: "\\") ? 2 : 1
            }
            guard position < bytes.count else { return nil }
            position += 1
            // The parser decodes the escapes.
            return (try? JSONDocument(parsing: Array(bytes[start..<position])))?.string
        }

        private mutating func scalar() {
            while let byte = current, !",]}/ \t\r\n".utf8.contains(byte) { position += 1 }
        }

        private mutating func skipBlanks() {
            while let byte = current {
                switch byte {
                case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): position += 1
                case UInt8(ascii: "/"): skipComment()
                default: return
                }
            }
        }

        private mutating func skipComment() {
            let isBlock = position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "*")
            position += 2
            while position < bytes.count {
                if isBlock, bytes[position - 1] == UInt8(ascii: "*"), bytes[position] == UInt8(ascii: "/") { break }
                if !isBlock, bytes[position] == UInt8(ascii: "\n") { break }
                position += 1
            }
            position += 1
        }
    }
}
