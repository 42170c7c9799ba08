import HTTPServer

/// What a request asks for, as a SHA-256 over method, route, target as sent, content type and body: two requests with
/// one key and different fingerprints are a mistake of the client's.
package struct IdempotencyFingerprint: Sendable, Equatable {
    private let digest: IdempotencyDigest

    package init(of request: HTTPRequest) {
        self.init(
            method: request.method.description, route: request.match.route?.pattern.text ?? "", target: request.target,
            contentType: request.fields.bytes(of: .contentType) ?? [], body: request.body)
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
