import HTTPTestClient
import JSONDocument

extension TestResponse {
    /// The `code` of a problem.
    package var code: String? { (try? json)?[member: "code"]?.string }

    /// Where a problem says that the input is wrong.
    package var pointers: [String] {
        ((try? json)?[member: "errors"]?.elements ?? []).compactMap { $0[member: "pointer"]?.string }
    }

    /// A member of the body, when the body is an object that has it.
    package subscript(member name: String) -> JSONDocument? { (try? json)?[member: name] }

    /// The elements of a list.
    package var items: [JSONDocument] { self[member: "items"]?.elements ?? [] }

    /// The names of the answer's fields, in lower case.
    package var fieldNames: Set<String> { Set(fields.map { $0.name.lowercased() }) }
}

extension JSONDocument {
    package subscript(string name: String) -> String? { self[member: name]?.string }
    package var names: Set<String> { Set((members ?? []).map(\.name)) }
}
