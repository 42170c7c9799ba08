import HTTPServer
import JSONDocument
import Sessions

/// Reading JSON from a request: the media type first, then the text.
enum RequestBody {
    static let json = "application/json"
    static let mergePatch = "application/merge-patch+json"
    static let jsonPatch = "application/json-patch+json"

    /// The body as JSON.
    /// - Parameter types: what `Content-Type` may be, in lower case.
    /// - Returns: the type that it is, and the document.
    /// - Throws: `Problem` 415 when the type is missing or another, 400 `invalid_json`.
    static func read(
        _ request: HTTPRequest, as types: [String] = [json]
    ) throws(Problem) -> (type: String, document: JSONDocument) {
        // Without a body there is nothing that a type could be missing for: it is just not JSON.
        let type = request.body.isEmpty ? types[0] : try mediaType(of: request, among: types)
        do {
            return (type, try JSONDocument(parsing: request.body))
        } catch {
            throw Problem(
                .invalidJSON, error.description,
                errors: [InvalidInput(pointer: error.pointer ?? "", detail: error.description)])
        }
    }

    /// The members of a body that must be an object, and may be left out altogether.
    /// - Parameter known: the members that it may have.
    static func readMembers(
        _ request: HTTPRequest, known: [String], isOptional: Bool = false
    ) throws(Problem) -> [String: JSONDocument] {
        if isOptional, request.body.isEmpty { return [:] }
        let document = try read(request).document
        return try members(of: document, at: "", known: known)
    }

    /// - Parameter pointer: where `document` stands in the body.
    static func members(
        of document: JSONDocument, at pointer: String, known: [String]
    ) throws(Problem) -> [String: JSONDocument] {
        guard let members = document.members else {
            throw Problem(.invalidInput, errors: [InvalidInput(pointer: pointer, detail: "must be an object")])
        }
        let unknown = members.filter { !known.contains($0.name) }
        guard unknown.isEmpty else {
            let list = known.joined(separator: ", ")
            throw Problem(
                .invalidInput,
                errors: unknown.map {
                    InvalidInput(
                        pointer: "\(pointer)/\(JSONPointer.escape($0.name))", detail: "is not known; \(list) are")
                })
        }
        return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
    }

    private static func mediaType(of request: HTTPRequest, among types: [String]) throws(Problem) -> String {
        var fields: HTTPFields = [:]
        if request.method == .patch { fields.add(.acceptPatch, types.joined(separator: ", ")) }
        guard request.fields.count(of: .contentType) == 1, let value = request.fields.bytes(of: .contentType) else {
            throw Problem(.unsupportedMediaType, "A body needs exactly one Content-Type.", fields: fields)
        }
        let parts = value.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let name = parts.first, let type = types.first(where: { name.trimmed.equals($0) }),
            parts.dropFirst().allSatisfy({ isUTF8($0.trimmed) })
        else {
            throw Problem(
                .unsupportedMediaType, "The Content-Type must be \(types.joined(separator: " or ")).", fields: fields)
        }
        return type
    }

    /// JSON is UTF-8 (RFC 8259, section 8.1); a parameter that says so is harmless, another charset is not.
    private static func isUTF8(_ parameter: ArraySlice<UInt8>) -> Bool {
        guard parameter.count >= 8, parameter.prefix(8).equals("charset=") else { return true }
        let value = parameter.dropFirst(8)
        return value.equals("utf-8") || value.equals("\"utf-8\"")
    }
}

extension ArraySlice where Element == UInt8 {
    /// Without blanks and tabs at its ends.
    var trimmed: ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var slice = drop(while: isBlank)
        while let last = slice.last, isBlank(last) { slice.removeLast() }
        return slice
    }

    /// Whether it is that text, which is in lower case, whatever its own case.
    func equals(_ text: String) -> Bool {
        count == text.utf8.count
            && zip(self, text.utf8).allSatisfy { ($0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0) == $1 }
    }
}
