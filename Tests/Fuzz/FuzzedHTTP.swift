import CChunks
import CMicroHTTPD
import Glibc
import HTTPTestClient

@testable import ConciergeApp
@testable import HTTPServer

enum FuzzedHTTP {
    /// A chunked body, whole and byte by byte.
    static func readChunks(_ bytes: [UInt8]) {
        let (whole, pieces) = (
            cchunks_read(bytes, bytes.count, max(1, bytes.count), 10_000), cchunks_read(bytes, bytes.count, 1, 10_000)
        )
        precondition(whole.refusal == pieces.refusal && whole.total == pieces.total, "pieces change what is read")
        precondition(whole.refusal != 0 || whole.done == pieces.done, "pieces change the end of the body")
    }

    /// What is all of a header is no part of a longer one, and has an address or none.
    static func readProxyHeader(_ bytes: [UInt8]) {
        var client = sockaddr_storage()
        let size = Int(cmhd_read_proxy_header(bytes, bytes.count, &client))
        precondition(size >= -1 && size <= min(bytes.count, Int(CMHD_PROXY_HEADER_BYTES)), "a size of nothing")
        guard size > 0 else { return }
        for length in 0..<size { precondition(cmhd_read_proxy_header(bytes, length, &client) == 0, "a shorter header") }
        precondition(cmhd_read_proxy_header(bytes, size, &client) == size, "another header")
        let families = [AF_INET, AF_INET6, AF_UNSPEC].map { sa_family_t($0) }
        precondition(families.contains(client.ss_family), "an address of another kind")
    }

    private static let server: HTTPServer = {
        var configuration = HTTPServerConfiguration()
        configuration.workers = 1
        var routes = RouterBuilder()
        routes.on(.get, "/") { HTTPResponse(text: "\(try $0.query.all.count)") }
        routes.on(.post, "/echo") { HTTPResponse(body: try $0.body) }
        routes.on(.post, "/later") { request in
            await Task.yield()
            return HTTPResponse(body: try request.body)
        }
        do { return try HTTPServer(router: routes.freeze(), configuration: configuration) } catch {
            fatalError("\(error)")
        }
    }()

    /// What a client sends before it closes its half of the connection. The server ends the connection.
    static func serve(_ bytes: [UInt8]) {
        do {
            let connection = try RawConnection(port: server.port, timeoutSeconds: 20)
            // The server may have refused the first half, and have gone.
            try? connection.send(Array(bytes.prefix(bytes.count / 2)))
            try? connection.send(Array(bytes.dropFirst(bytes.count / 2)))
            connection.finishSending()
            _ = try connection.readToEnd()
            // Closing with a reset leaves no port waiting.
            connection.close(withReset: true)
        } catch {
            fatalError("\(error)")
        }
    }

    private static let router: Router = {
        var routes = RouterBuilder()
        for path in ["/", "/sessions", "/sessions/{id}", "/sessions/{id}/services/{service}", "/a/{b}/c"] {
            routes.on(.get, path) { HTTPResponse(text: $0.target) }
        }
        routes.on(.put, "/a/{b}/c") { HTTPResponse(text: $0.parameter("b")) }
        do { return try routes.freeze() } catch { fatalError("\(error)") }
    }()

    private static func request(_ fields: HTTPRequestFields, _ match: RouteMatch) -> HTTPRequest {
        HTTPRequest(
            id: RequestID(prefix: 0, number: 0), method: .get, fields: fields, body: [], peer: .unknown, match: match,
            receivedAt: 0,
            worker: 0)
    }

    /// A target and its query.
    static func route(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard !text.isEmpty else { return }
        for method in [HTTPMethod.get, .put, .options, .connect] {
            let fields = HTTPRequestFields(target: text, fields: [])
            guard case .handle(let match) = router.decide(router.find(method, fields), method, fields) else { continue }
            let request = request(fields, match)
            _ = try? request.query
            for name in match.route?.pattern.parameterNames ?? [] { _ = request.parameter(name) }
        }
    }

    /// Lines of `Cookie`, and behind a zero byte `Authorization`.
    static func readCookies(_ bytes: [UInt8]) {
        let parts = parts(bytes, 2)
        var fields = parts[0].split(separator: 10).map { (HTTPFieldName.cookie, String(decoding: $0, as: UTF8.self)) }
        if !parts[1].isEmpty { fields.append((.authorization, String(decoding: parts[1], as: UTF8.self))) }
        let head = HTTPRequestFields(target: "/", fields: fields)
        guard case .handle(let match) = router.decide(router.find(.get, head), .get, head) else { return }
        if let found = try? SessionCredential.of(request(head, match), cookieName: "concierge"), let token = found.token
        {
            precondition(bytes.count >= 40, "a token of nothing: \(token.sessionID)")
        }
    }
}
