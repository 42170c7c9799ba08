import HTTPServer

/// What a request asks for, as a SHA-256 over method, route, target as sent, content type and body: two requests with
/// one key and different fingerprints are a mistake of the client's.
package struct IdempotencyFingerprint: Sendable, Equatable {
    private let digest: IdempotencyDigest

    init(_ digest: IdempotencyDigest) { self.digest = digest }

    /// Of everything but the body, while that has not come.
    init(ofHead request: HTTPRequest) {
        digest = Self.head("concierge idempotency: what is being asked for", request).finish()
    }

    static func head(_ label: String, _ request: HTTPRequest) -> IdempotencyDigest.Builder {
        var builder = IdempotencyDigest.Builder(label)
        builder.add(request.method.description)
        builder.add(request.match.route?.pattern.text ?? "")
        builder.add(request.target)
        builder.add(request.fields.bytes(of: .contentType) ?? [])
        return builder
    }

    /// - Throws: `HTTPError.bodyIsAwaited`.
    package init(of request: HTTPRequest) throws(HTTPError) {
        self.init(
            method: request.method.description, route: request.match.route?.pattern.text ?? "", target: request.target,
            contentType: request.fields.bytes(of: .contentType) ?? [], body: try request.body)
    }

    init(method: String, route: String, target: String, contentType: ArraySlice<UInt8>, body: [UInt8]) {
        var builder = IdempotencyDigest.Builder("concierge idempotency: what was asked for")
        builder.add(method)
        builder.add(route)
        builder.add(target)
        builder.add(contentType)
        builder.add(body)
        digest = builder.finish()
    }
}
