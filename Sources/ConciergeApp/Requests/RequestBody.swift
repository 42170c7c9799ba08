import API
import Glibc
import HTTPServer
import JSONDocument
import Sessions

/// Reads JSON from a request: the media type first, then the text.
enum RequestBody {
    /// The types of PUT and PATCH.
    static let jsonOnly = [MediaType.json]
    static let patches = [MediaType.mergePatch, MediaType.jsonPatch, MediaType.json]

    /// The body as JSON.
    /// - Parameter types: allowed values of `Content-Type`, in lower case.
    /// - Throws: `Problem` 415 when the type is missing or another, 400 `invalid_json`.
    static func read(_ request: HTTPRequest, as types: [String] = jsonOnly) throws -> JSONDocument {
        try readTyped(request, as: types).document
    }

    /// The same when the meaning of the document depends on its type.
    /// - Returns: the type and the document.
    static func readTyped(
        _ request: HTTPRequest, as types: [String]
    ) throws -> (type: String, document: JSONDocument) {
        // Without a body the problem is that it is not JSON, not that its type is missing.
        let type = isLeftOut(by: request) ? types[0] : try mediaType(of: request, among: types)
        let body = try request.body
        do {
            return (type, try JSONDocument(parsing: body))
        } catch {
            throw Problem(
                .invalidJSON, error.description,
                errors: [JSONViolation(pointer: error.pointer ?? "", detail: error.description)])
        }
    }

    /// The members of a value that must be an object, of which only `known` ones may be there.
    /// - Parameter pointer: the place of `document` in the body.
    static func members(
        of document: JSONDocument, at pointer: String, known: [String]
    ) throws(Problem) -> [String: JSONDocument] {
        guard let members = document.members else {
            throw Problem(.invalidInput, errors: [JSONViolation(pointer: pointer, detail: "must be an object")])
        }
        // A body may have many, and a problem names some of them.
        let unknown = members.lazy.filter { !known.contains($0.name) }.prefix(JSONSchema.shownViolations + 1)
        guard unknown.isEmpty else {
            let list = known.joined(separator: ", ")
            throw Problem(
                .invalidInput,
                errors: unknown.map {
                    JSONViolation(
                        pointer: "\(pointer)/\(JSONPointer.escape($0.name))", detail: "is unknown; allowed: \(list)")
                })
        }
        return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
    }

    /// For a body that is not JSON.
    /// - Throws: `Problem` 415 when the type is missing or another.
    static func requireType(of request: HTTPRequest, among types: [String]) throws {
        _ = try mediaType(of: request, among: types)
    }

    /// Whether the request has no body.
    static func isLeftOut(by request: HTTPRequest) -> Bool { (try? request.body)?.isEmpty ?? false }

    private static func mediaType(of request: HTTPRequest, among types: [String]) throws(Problem) -> String {
        func refuse(_ detail: String) -> Problem {
            let list = types.joined(separator: ", ")
            return Problem(
                .unsupportedMediaType, "\(detail): \(list).",
                fields: request.method == .patch ? [.acceptPatch: list] : [:])
        }
        // The usual case.
        if request.fields.count(of: .contentType) == 1 {
            var exact: String?
            request.fields.withValue(of: .contentType) { value in exact = types.first { value.isSame(as: $0) } }
            if let exact { return exact }
        }
        guard case .one(let value) = request.fields.only(.contentType) else {
            throw refuse("A body requires exactly one Content-Type, one of")
        }
        let end = value.firstIndex(of: UInt8(ascii: ";")) ?? value.endIndex
        let name = value[..<end].trimmed
        guard let type = types.first(where: { name.equals($0) }),
            value[end...].split(separator: UInt8(ascii: ";")).allSatisfy({ isUTF8($0.trimmed) })
        else { throw refuse("The Content-Type must be one of") }
        return type
    }

    /// JSON is UTF-8 (RFC 8259, section 8.1): a parameter may say so, but must not name another charset.
    private static func isUTF8(_ parameter: ArraySlice<UInt8>) -> Bool {
        guard parameter.count >= 8, parameter.prefix(8).equals("charset=") else { return true }
        let value = parameter.dropFirst(8)
        return value.equals("utf-8") || value.equals("\"utf-8\"")
    }
}

extension UnsafeRawBufferPointer {
    /// Whether it equals the text byte for byte.
    func isExactly(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let start = baseAddress else { return false }
        return memcmp(start, text.utf8Start, count) == 0
    }

    /// The same for a text that is not a literal.
    func isSame(as text: String) -> Bool {
        text.utf8.span.withUnsafeBytes { text in
            guard count == text.count, let start = baseAddress, let other = text.baseAddress else { return false }
            return memcmp(start, other, count) == 0
        }
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

    /// Whether it equals the text, which is in lower case, ignoring case.
    func equals(_ text: String) -> Bool {
        guard count == text.utf8.count else { return false }
        return withUnsafeBufferPointer { bytes in
            var index = 0
            for wanted in text.utf8 {
                let byte = bytes[index]
                guard (byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte) == wanted else { return false }
                index += 1
            }
            return true
        }
    }
}

/// The members of a request's body, by their types.
struct BodyMembers {
    /// Nil where the body was left out.
    private let document: JSONDocument?

    /// - Throws: `Problem` 400 for a member that is not `known`, and as `RequestBody`.
    init(_ request: HTTPRequest, known: [String], isOptional: Bool = false) throws {
        if isOptional, RequestBody.isLeftOut(by: request) {
            document = nil
            return
        }
        let document = try RequestBody.read(request)
        self.document = document
        // If the body has as many known members as members, it has no others. Otherwise each unknown one is reported.
        if document.kind == .object {
            var unknown = document.count
            for name in known where unknown > 0 && document[member: name] != nil { unknown -= 1 }
            if unknown == 0 { return }
        }
        _ = try RequestBody.members(of: document, at: "", known: known)
    }

    subscript(name: String) -> JSONDocument? { document?[member: name] }

    /// Nil where it is left out.
    func text(_ name: String) throws(Problem) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string, !text.isEmpty else { throw Self.refusal(name, "must be a non-empty string") }
        return text
    }

    /// Nil where it is left out.
    func number(_ name: String) throws(Problem) -> Int? {
        guard let value = self[name] else { return nil }
        guard let number = value.int, number > 0 else { throw Self.refusal(name, "must be a positive integer") }
        return number
    }

    /// False where it is left out.
    func flag(_ name: String) throws(Problem) -> Bool {
        guard let value = self[name] else { return false }
        guard let flag = value.bool else { throw Self.refusal(name, "must be a boolean") }
        return flag
    }

    /// Nil where it is left out.
    func duration(_ name: String, in range: ClosedRange<Duration>) throws(Problem) -> Duration? {
        guard let value = self[name] else { return nil }
        guard let duration = value.string.flatMap({ DurationText.parse($0) }), range.contains(duration) else {
            let (least, most) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
            throw Self.refusal(name, "must be a duration from \"\(least)\" to \"\(most)\", as in \"30s\"")
        }
        return duration
    }

    static func missing(_ name: String) -> Problem { refusal(name, "is required") }

    static func refusal(_ name: String, _ detail: String) -> Problem {
        Problem(.invalidInput, errors: [JSONViolation(pointer: "/\(name)", detail: detail)])
    }
}
