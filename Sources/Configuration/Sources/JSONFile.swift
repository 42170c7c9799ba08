import JSONDocument

/// A parsed JSON file with comments, with the positions of its values.
package struct JSONFile {
    let path: String
    let document: JSONDocument
    private let bytes: [UInt8]
    private let places: JSONPlaces

    /// - Throws: a problem with the file's name and, for text that is not JSON, line and column.
    package init(reading path: String, with files: FileReader) throws(ConfigurationProblem) {
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
    package func origin(of pointer: JSONPointer) -> ValueOrigin {
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
