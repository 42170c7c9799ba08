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

    /// The codes and statuses of problems are those of their table, and only the admin listener imports.
    private static func problemPatch(on listener: APIListener) -> JSONDocument {
        let codes = ProblemKind.all.map { JSONDocument($0.code) }
        let statuses = Set(ProblemKind.all.map { Int($0.status.code) }).sorted().map { JSONDocument($0) }
        let enumerations: [JSONDocument] = [
            ["op": "add", "path": "/schemas/Problem/properties/code/enum", "value": JSONDocument(codes)],
            ["op": "add", "path": "/schemas/Problem/properties/status/enum", "value": JSONDocument(statuses)],
        ]
        let report: JSONDocument = ["op": "remove", "path": "/schemas/Problem/properties/report"]
        return JSONDocument(enumerations + (listener == .admin ? [] : [report]))
    }
}
