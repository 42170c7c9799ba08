import CEmbeddedFiles
import JSONDocument

/// The schemas, parameters, header fields and security schemes of the description that do not depend on what is loaded:
/// those of `clients/openapi/components.json`, in the form of OpenAPI 3.1.
struct APIComponents: Sendable {
    /// By their names.
    let schemas, parameters, headers, securitySchemes: JSONDocument

    init(on listener: APIListener) {
        let file = cembedded_api_components
        let bytes = UnsafeBufferPointer(start: file.bytes, count: file.count)
        do {
            let all = try JSONDocument(parsing: Array(bytes)).applying(Self.problemPatch(on: listener))
            schemas = all[member: "schemas"] ?? .emptyObject
            parameters = all[member: "parameters"] ?? .emptyObject
            headers = all[member: "headers"] ?? .emptyObject
            securitySchemes = all[member: "securitySchemes"]?[member: listener.rawValue] ?? .emptyObject
        } catch {
            preconditionFailure("clients/openapi/components.json: \(error)")
        }
    }

    /// The codes of problems are those of their table, and only the admin listener imports. An `enum` of the codes
    /// would have clients of today fail at a code of tomorrow.
    private static func problemPatch(on listener: APIListener) -> JSONDocument {
        let codes: JSONDocument = [
            "op": "add", "path": "/schemas/Problem/properties/code/x-extensible-enum",
            "value": JSONDocument(ProblemKind.all.map { JSONDocument($0.code) }),
        ]
        let report: JSONDocument = ["op": "remove", "path": "/schemas/Problem/properties/report"]
        return JSONDocument([codes] + (listener == .admin ? [] : [report]))
    }
}
