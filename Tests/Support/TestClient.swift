import HTTPTestClient
import JSONDocument
import Testing

/// Sends requests over a connection that it keeps, and checks on every answer what holds for all of them.
package struct TestClient: Sendable {
    package let port: UInt16
    /// Fields that every request carries.
    package var fields: [(name: String, value: String)] = []
    /// What stands before the path of each address that the server gives it.
    package var basePath = ""

    package init(port: UInt16) { self.port = port }

    package func with(token: String) -> TestClient { with("Authorization", "Bearer \(token)") }

    package func with(_ name: String, _ value: String) -> TestClient {
        var client = self
        client.fields.append((name, value))
        return client
    }

    /// - Parameters:
    ///   - json: a body, sent as `application/json` unless `fields` say otherwise.
    ///   - fields: further fields of this request.
    @discardableResult
    package func send(
        _ method: String, _ path: String, json: String? = nil, fields: [(name: String, value: String)] = [],
        host: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        try await send(
            request(method, path, json: json, fields: fields, host: host), method, path, sourceLocation: sourceLocation)
    }

    @discardableResult
    package func get(
        _ path: String, fields: [(name: String, value: String)] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        try await send("GET", path, fields: fields, sourceLocation: sourceLocation)
    }

    /// `GET` that calls the server by another name.
    package func get(
        _ path: String, host: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        try await send("GET", path, host: host, sourceLocation: sourceLocation)
    }

    /// Sends these bytes, which are one request.
    package func send(
        _ bytes: [UInt8], _ method: String, _ path: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        let port = port
        let response = try await blocking {
            let connection = try RawConnection(port: port)
            try connection.send(bytes)
            return try connection.readResponse(isBodiless: method == "HEAD")
        }
        GeneralRules.check(response, of: method, path, under: basePath, sourceLocation: sourceLocation)
        return response
    }

    /// `PATCH` with a merge patch.
    @discardableResult
    package func patch(
        _ path: String, _ json: String, fields: [(name: String, value: String)] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TestResponse {
        try await send(
            "PATCH", path, json: json, fields: [("Content-Type", "application/merge-patch+json")] + fields,
            sourceLocation: sourceLocation)
    }

    /// The bytes of a request, for those who send them themselves.
    package func request(
        _ method: String, _ path: String, json: String? = nil, fields: [(name: String, value: String)] = [],
        host: String? = nil
    ) -> [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\n"
        let all = self.fields + fields
        for field in all { head += "\(field.name): \(field.value)\r\n" }
        if let json {
            if !all.contains(where: { $0.name.lowercased() == "content-type" }) {
                head += "Content-Type: application/json\r\n"
            }
            head += "Content-Length: \(json.utf8.count)\r\n"
        }
        return Array((head + "\r\n" + (json ?? "")).utf8)
    }
}

/// An answer that a test cannot go on with.
package struct UnexpectedAnswer: Error, CustomStringConvertible {
    let response: TestResponse

    package var description: String { "unexpected answer: \(response.status) \(response.text)" }
}

extension TestResponse {
    /// The body as JSON, read as strictly as the server reads.
    package var json: JSONDocument {
        get throws { try JSONDocument(parsing: body) }
    }
}

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
