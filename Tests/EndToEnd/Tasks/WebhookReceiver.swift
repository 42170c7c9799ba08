import CCrypto
import HTTPServer
import JSONDocument
import Synchronization
import Testing

/// A back end that tasks are sent to, written from the specification of Standard Webhooks: it checks the three fields of each
/// message, and its signature with the key that it knows.
struct WebhookReceiver: Sendable {
    /// The base64 of 32 bytes, which are digits and letters.
    static let secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    private static let key = Array("0123456789abcdef0123456789abcdef".utf8)

    struct Message: Sendable {
        let id: String
        let timestamp: Int64
        let task: JSONDocument
        let isGenuine: Bool
    }

    let port: UInt16
    private let log: MessageLog

    var messages: [Message] { log.messages.withLock { $0 } }
    var url: String { "http://127.0.0.1:\(port)/tasks" }

    private final class MessageLog: Sendable {
        let messages = Mutex<[Message]>([])
    }

    /// - Parameter respond: gets each message and how many came before it.
    static func run(
        _ respond: @escaping @Sendable (Message, Int) async throws -> HTTPResponse,
        _ body: (WebhookReceiver) async throws -> Void
    ) async throws {
        let log = MessageLog()
        var routes = RouterBuilder()
        routes.on(.post, "/tasks") { request in
            let message = try message(of: request)
            let count = log.messages.withLock { messages in
                messages.append(message)
                return messages.count - 1
            }
            return try await respond(message, count)
        }
        // Where redirects would lead.
        routes.on(.post, "/elsewhere") { _ in
            Issue.record("a redirect was followed")
            return HTTPResponse(.ok)
        }
        routes.on(.get, "/elsewhere") { _ in
            Issue.record("a redirect was followed")
            return HTTPResponse(.ok)
        }
        var configuration = HTTPServerConfiguration()
        configuration.workers = 1
        let server = try HTTPServer(router: routes.freeze(), configuration: configuration)
        do {
            try await body(WebhookReceiver(port: server.port, log: log))
            await server.stop(timeout: .seconds(5))
        } catch {
            await server.stop(timeout: .seconds(5))
            throw error
        }
    }

    private static func message(of request: HTTPRequest) throws -> Message {
        let id = request.fields["webhook-id"] ?? ""
        let timestamp = request.fields["webhook-timestamp"] ?? ""
        let body = try request.body
        var signed = Array("\(id).\(timestamp).".utf8)
        signed += body
        var digest = [UInt8](repeating: 0, count: 32)
        HMAC(EVP_sha256(), key, Int32(key.count), signed, signed.count, &digest, nil)
        var text = [UInt8](repeating: 0, count: 45)
        EVP_EncodeBlock(&text, digest, 32)
        let expected = "v1," + String(decoding: text.prefix(44), as: UTF8.self)
        // Several signatures may stand there, with blanks between them.
        let signatures = (request.fields["webhook-signature"] ?? "").split(separator: " ")
        return Message(
            id: id, timestamp: Int64(timestamp) ?? 0, task: try JSONDocument(parsing: body),
            isGenuine: !id.isEmpty && signatures.contains { $0 == expected })
    }
}

extension HTTPResponse {
    static func json(_ text: String) -> HTTPResponse {
        HTTPResponse(fields: [.contentType: "application/json"], body: Array(text.utf8))
    }
}
