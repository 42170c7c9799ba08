import JSONDocument

/// A JSON file with comments, parsed, that remembers where in the text each value stands.
struct JSONFile {
    let path: String
    let document: JSONDocument
    private let bytes: [UInt8]
    private let places: JSONPlaces

    /// - Throws: a problem that names the file, and for text that is not JSON the line and column.
    init(reading path: String, with files: FileReader) throws(ConfigurationProblem) {
        let bytes: [UInt8]
        do {
            bytes = try files.read(path)
        } catch {
            throw ConfigurationProblem(at: .file(path), code: error.code, "\(error)")
        }
        try self.init(path: path, bytes: bytes)
    }

    /// - Throws: a problem that names the line and column.
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

    /// The line and column of the value at the pointer, or of the nearest one around it that is there.
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
