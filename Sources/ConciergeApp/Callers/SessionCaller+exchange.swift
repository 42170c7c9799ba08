import API
import HTTPServer
import JSONDocument
import Sessions

/// A caller whose token a sign-in from a flow has ended, and who comes for the new one. For every other request such a
/// token is unknown.
extension SessionCaller {
    /// The path of new tokens.
    static let tokens = "/v1/sessions/{session}/tokens"

    /// The session of the request's ended token, if the request proves who had it.
    ///
    /// - Throws: as ``session(of:)``.
    func sessionOfEndedToken(of request: HTTPRequest) async throws -> (FoundSession, ExchangeProof) {
        let token = try presentedToken(of: request)
        let proof = proof(in: request)
        let session = try await sessions.session(ofEnded: token, proof) { [log] in
            log.write(.warning, "token_not_exchanged") { line in
                line.add("request_id", request.id)
                line.add("client", request.client)
                line.add("session_id", "ses_", high: token.sessionID.high, low: token.sessionID.low)
            }
        }
        guard let proof else { throw SessionError.unauthenticated }
        try note(token, of: request, session)
        return (FoundSession(session: session, token: token), proof)
    }

    /// A body that says something else proves nothing: like every bad token it gets 401.
    private func proof(in request: HTTPRequest) -> ExchangeProof? {
        guard let body = try? BodyMembers(request, known: ["verifier"], isOptional: true) else { return nil }
        if let verifier = body["verifier"] {
            return verifier.string.flatMap(CodeChallenge.init(ofVerifier:)).map { .verifier($0) }
        }
        return cookie.isProof && isByCookie(request) ? .cookie : nil
    }

    /// Whether the session's cookie came with the request.
    func isByCookie(_ request: HTTPRequest) -> Bool {
        guard request.fields.contains(.cookie) else { return false }
        return (try? SessionCredential.of(request, cookieName: cookie.name))?.isCookie ?? false
    }

    /// The owner of the key of such a request.
    func ownerOfEndedToken(of request: HTTPRequest) async throws -> KeyOwner {
        guard request.match.route?.pattern.text == Self.tokens else { throw SessionError.unauthenticated }
        return try await sessionOfEndedToken(of: request).0.keyOwner
    }
}
