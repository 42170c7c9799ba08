import HTTPServer
import JSONDocument
import Sessions

/// An error as clients see it: RFC 9457, `application/problem+json`.
package struct Problem: Error, Sendable {
    package let kind: ProblemKind
    /// A sentence about this occurrence, safe to show.
    package let detail: String
    /// The errors of the input, at most 32; `detail` says if there are more.
    package let errors: [JSONViolation]
    /// Members that only problems of this kind have (RFC 9457, section 3.2).
    package let members: [(name: String, value: JSONDocument)]
    /// Header fields of the response.
    package let fields: HTTPFields

    package init(
        _ kind: ProblemKind, _ detail: String? = nil, errors: [JSONViolation] = [],
        members: [(name: String, value: JSONDocument)] = [], fields: HTTPFields = [:]
    ) {
        self.kind = kind
        let most = JSONSchema.shownViolations
        let more = errors.count > most ? " Only the first \(most) errors are listed." : ""
        self.detail = (detail ?? kind.explanation) + more
        self.errors = Array(errors.prefix(most))
        self.members = members
        self.fields = fields
    }

    package static let mediaType = "application/problem+json"
    private static let fixedFields = HTTPFixedFields([
        .contentType: mediaType, .cacheControl: "no-store", .contentSecurityPolicy: ContentPolicy.data,
    ])

    /// - Parameter basePath: stands before the path of its type.
    package func response(requestID: String, basePath: String = "") -> HTTPResponse {
        var json = JSONWriter()
        write(to: &json, requestID: requestID, basePath: basePath)
        var response = HTTPResponse(kind.status, fields: HTTPFields(Self.fixedFields), body: json.bytes)
        for line in fields.lines { response.fields.add(line.name, line.value) }
        return response
    }

    /// - Parameter requestID: of the request that it is the response to; nil for a part of another response.
    func write(to json: inout JSONWriter, requestID: String?, basePath: String = "") {
        json.beginObject()
        json.member("type", kind.type(under: basePath))
        json.member("title", kind.title)
        json.member("status", Int(kind.status.code))
        json.member("detail", detail)
        json.member("code", kind.code)
        if let requestID {
            json.member("request_id", requestID)
        }
        if !errors.isEmpty {
            json.objects("errors", errors) { json, error in
                json.member("pointer", error.pointer)
                json.member("detail", error.detail)
            }
        }
        for member in members {
            json.name(member.name)
            json.document(member.value)
        }
        json.endObject()
    }
}
