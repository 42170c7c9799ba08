import Foundation
import HTTPServer
import JSONDocument
import Sessions
import Support
import Synchronization
import Testing

/// An OpenID provider, as far as the code flow with PKCE needs one, written from OpenID Connect Core 1.0 and RFC 7636.
struct OpenIDProvider: Sendable {
    let port: UInt16
    private let granted: Granted

    /// What each code was given for.
    private final class Granted: Sendable {
        let codes = Mutex<[String: [String: String]]>([:])
    }

    private static let (client, secret, returnTo) = ("concierge", "provider-secret", "https://app.example.org/in")

    var issuer: String { "http://127.0.0.1:\(port)" }

    var environment: [String: String] {
        [
            "OIDC_ISSUER": issuer, "OIDC_CLIENT": Self.client, "OIDC_SECRET": Self.secret,
            "OIDC_RETURN_TO": Self.returnTo, "OIDC_KEY": String(repeating: "0f", count: 32),
        ]
    }

    static func run(_ body: (OpenIDProvider) async throws -> Void) async throws {
        let granted = Granted()
        var routes = RouterBuilder()
        routes.on(.get, "/.well-known/openid-configuration") { request in
            let own = "http://\(request.fields[.host] ?? "")"
            return .json(
                #"{"issuer":"\#(own)","authorization_endpoint":"\#(own)/authorize","token_endpoint":"\#(own)/token"}"#)
        }
        routes.on(.post, "/token") { request in try token(for: request, granted) }
        try await withServer(routes) { try await body(OpenIDProvider(port: $0, granted: granted)) }
    }

    /// The person agrees: the browser goes back with the code.
    func authorize(_ address: URL) throws -> (code: String, state: String) {
        let query = Self.members(of: address.query() ?? "")
        #expect(address.path() == "/authorize" && query["response_type"] == "code")
        #expect(query["client_id"] == Self.client && query["redirect_uri"] == Self.returnTo)
        #expect(query["scope"]?.contains("openid") == true && query["code_challenge_method"] == "S256")
        let code = "code-\(granted.codes.withLock(\.count))"
        granted.codes.withLock { $0[code] = query }
        return (code, try #require(query["state"]))
    }

    private static func token(for request: HTTPRequest, _ granted: Granted) throws -> HTTPResponse {
        let form = members(of: String(decoding: try request.body, as: UTF8.self))
        let basic = Data("\(client):\(secret)".utf8).base64EncodedString()
        // A code is good once.
        guard request.fields[.authorization] == "Basic \(basic)", form["grant_type"] == "authorization_code",
            form["redirect_uri"] == returnTo,
            let query = granted.codes.withLock({ $0.removeValue(forKey: form["code"] ?? "") }),
            let verifier = form["code_verifier"], SigningIn.challenge(of: verifier) == query["code_challenge"]
        else { return .refusal(#"{"error":"invalid_grant"}"#) }
        let claims = """
            {"iss":"http://\(request.fields[.host] ?? "")","sub":"sub-7","aud":"\(client)","exp":4102444800,
             "nonce":"\(query["nonce"] ?? "")","name":"Ada","email":"ada@example.org","secret":"not for clients"}
            """
        let token = ["{}", claims].map { Data($0.utf8).base64EncodedString().replacing("=", with: "") }
        let text = token.joined(separator: ".").replacing("+", with: "-").replacing("/", with: "_")
        return .json(#"{"access_token":"x","token_type":"Bearer","id_token":"\#(text).x"}"#)
    }

    private static func members(of query: String) -> [String: String] {
        var components = URLComponents()
        components.percentEncodedQuery = query.replacing("+", with: "%20")
        return (components.queryItems ?? []).reduce(into: [:]) { $0[$1.name] = $1.value }
    }
}

/// The API flow for login of Ory Kratos, with one identity.
struct KratosStandIn: Sendable {
    let url: String
    private let log: EndedLog

    private final class EndedLog: Sendable {
        let ended = Mutex<[String]>([])
    }

    var endedSessions: [String] { log.ended.withLock { $0 } }

    static func run(_ body: (KratosStandIn) async throws -> Void) async throws {
        let log = EndedLog()
        var routes = RouterBuilder()
        routes.on(.get, "/self-service/login/api") { request in
            .json(
                #"{"id":"flow-1","ui":{"action":"http://\#(request.fields[.host] ?? "")/self-service/login?flow=flow-1"}}"#
            )
        }
        routes.on(.post, "/self-service/login") { request in
            let proof = try JSONDocument(parsing: try request.body)
            guard proof[string: "method"] == "password", proof[string: "identifier"] == "ada",
                proof[string: "password"] == "analytical"
            else { return .refusal(#"{"ui":{"messages":[{"id":4000006}]}}"#) }
            return .json(
                #"{"session_token":"ory_st_1","session":{"identity":{"id":"9f425a8d","traits":{"email":"ada@example.org"}}}}"#
            )
        }
        routes.on(.delete, "/self-service/logout/api") { request in
            let token = try JSONDocument(parsing: try request.body)[string: "session_token"] ?? "-"
            log.ended.withLock { $0.append(token) }
            return HTTPResponse(.noContent)
        }
        try await withServer(routes) { try await body(KratosStandIn(url: "http://127.0.0.1:\($0)", log: log)) }
    }
}

private func withServer(_ routes: RouterBuilder, _ body: (UInt16) async throws -> Void) async throws {
    var configuration = HTTPServerConfiguration()
    configuration.workers = 1
    let server = try HTTPServer(router: routes.freeze(), configuration: configuration)
    do {
        try await body(server.port)
        await server.stop(timeout: .seconds(5))
    } catch {
        await server.stop(timeout: .seconds(5))
        throw error
    }
}

extension HTTPResponse {
    fileprivate static func refusal(_ text: String) -> HTTPResponse {
        HTTPResponse(.badRequest, fields: [.contentType: "application/json"], body: Array(text.utf8))
    }
}
