import HTTPTestClient
import JSONDocument
import Testing

/// What holds for every answer: API, section 1.
enum GeneralRules {
    /// Every field that an answer may have: one more is a decision, not an accident.
    private static let known: Set<String> = [
        "access-control-allow-credentials", "access-control-allow-headers", "access-control-allow-methods",
        "access-control-allow-origin", "access-control-expose-headers", "access-control-max-age",
        "accept-encoding", "accept-patch", "allow", "cache-control", "connection", "content-length", "content-type",
        "content-language", "content-security-policy", "date", "etag",
        "clear-site-data", "content-encoding", "cross-origin-opener-policy", "cross-origin-resource-policy",
        "idempotency-replayed",
        "location", "preference-applied", "ratelimit", "ratelimit-policy", "referrer-policy", "request-id",
        "retry-after",
        "set-cookie",
        "www-authenticate", "x-accel-buffering", "x-content-type-options", "keep-alive", "vary", "transfer-encoding",
    ]

    static func check(
        _ response: TestResponse, of method: String, _ path: String, under basePath: String,
        sourceLocation: SourceLocation
    ) {
        for field in response.fields {
            #expect(known.contains(field.name.lowercased()), "field \(field.name)", sourceLocation: sourceLocation)
        }
        #expect(response.values("Request-Id").count == 1, sourceLocation: sourceLocation)
        #expect(response["X-Content-Type-Options"] == "nosniff", sourceLocation: sourceLocation)
        #expect(response["Referrer-Policy"] == "no-referrer", sourceLocation: sourceLocation)
        #expect(response["Cross-Origin-Resource-Policy"] == "same-origin", sourceLocation: sourceLocation)
        if response["Content-Type"].map({ $0.contains("json") || $0.contains("svg") || $0.contains("html") }) ?? false,
            response["Content-Type"] != "application/x-ndjson"
        {
            let policy = response["Content-Security-Policy"] ?? ""
            #expect(policy.hasPrefix("default-src 'none'"), sourceLocation: sourceLocation)
            #expect(policy.contains("frame-ancestors 'none'"), sourceLocation: sourceLocation)
        }
        // A page of another site may load a script from anywhere, with the cookies of its user.
        if path.hasPrefix("/v1/") {
            #expect(response["Content-Type"]?.contains("javascript") != true, sourceLocation: sourceLocation)
        }
        // Whatever is under /v1 carries a session's data or a token; what OPTIONS says is about the path alone. Flows
        // are for everybody, and may be kept by who asks whether they still hold.
        let isFlow = path.hasPrefix("/v1/flows") && !path.contains("/funnel") && response.status < 400
        if isFlow, method != "OPTIONS" {
            #expect(response["Cache-Control"] == "no-cache", sourceLocation: sourceLocation)
            #expect(response["ETag"] != nil, sourceLocation: sourceLocation)
        } else if path.hasPrefix("/v1/"), method != "OPTIONS" {
            #expect(response["Cache-Control"] == "no-store", sourceLocation: sourceLocation)
        }
        if response.status == 204 || response.status == 304 {
            #expect(response.body.isEmpty, sourceLocation: sourceLocation)
        }
        if response.status == 429 || response.status == 503 {
            #expect(response["Retry-After"] != nil, sourceLocation: sourceLocation)
        }
        if response.status == 401 {
            #expect(response["WWW-Authenticate"] == "Bearer", sourceLocation: sourceLocation)
        }
        if response.status == 405 { #expect(response["Allow"] != nil, sourceLocation: sourceLocation) }
        if response.status >= 400 || path == "/metrics" { Canary.check(response.text, of: path) }
        if response.status >= 400, method != "HEAD" {
            checkProblem(response, under: basePath, sourceLocation: sourceLocation)
        }
    }

    /// RFC 9457.
    private static func checkProblem(
        _ response: TestResponse, under basePath: String, sourceLocation: SourceLocation
    ) {
        // Health is no problem, whatever its status.
        if response.status == 503, response["Content-Type"] == "application/json" { return }
        #expect(response["Content-Type"] == "application/problem+json", sourceLocation: sourceLocation)
        #expect(response["Cache-Control"] == "no-store", sourceLocation: sourceLocation)
        guard let json = try? response.json else {
            Issue.record("no JSON: \(response.text)", sourceLocation: sourceLocation)
            return
        }
        let code = json[member: "code"]?.string
        #expect(code != nil, sourceLocation: sourceLocation)
        let type = code.map { "\(basePath)/problems/\($0)" }
        #expect(json[member: "type"]?.string == type, sourceLocation: sourceLocation)
        #expect(json[member: "status"]?.int == response.status, sourceLocation: sourceLocation)
        #expect(json[member: "title"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(json[member: "detail"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(json[member: "request_id"]?.string == response["Request-Id"], sourceLocation: sourceLocation)
        for error in json[member: "errors"]?.elements ?? [] {
            #expect(error[member: "pointer"]?.string != nil, sourceLocation: sourceLocation)
            #expect(error[member: "detail"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
        }
    }
}

/// Looks for what no log, metric or error may have, in all that the tests see of them.
package enum Canary {
    /// Stands in documents and secrets of tests, and nowhere else.
    package static let word = "canary5e7c"
    /// A key that has it: 32 bytes in base64.
    package static let key = String(repeating: word, count: 4) + "ABA="

    /// - Parameter secrets: what must not be there besides session tokens.
    package static func check(
        _ text: String, of place: String, secrets: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        // The shortest piece of a token that is worth anything to a thief.
        if let token = text.firstMatch(of: /cg_[A-Za-z0-9_-]{24,}/) {
            Issue.record("\(place) has a token: \(token.output)", sourceLocation: sourceLocation)
        }
        if text.contains(word) { Issue.record("\(place) has content or a secret", sourceLocation: sourceLocation) }
        if let secret = text.firstMatch(of: /whsec_[A-Za-z0-9+\/]{16,}/) {
            Issue.record("\(place) has the secret of a webhook: \(secret.output)", sourceLocation: sourceLocation)
        }
        for secret in secrets where text.contains(secret) {
            Issue.record("\(place) has the secret \(secret)", sourceLocation: sourceLocation)
        }
    }
}
