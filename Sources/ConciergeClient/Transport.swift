import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests to one server.
struct Transport: Sendable {
    let url: URL
    let http: URLSession
    /// See ``Session/language``.
    let language: Locked<String?>

    struct Answer: Sendable {
        let status: Int
        let etag: String?
        let body: Data

        func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
            try JSON.decoder.decode(type, from: body)
        }
    }

    init(url: URL, language: String?, configuration: URLSessionConfiguration) {
        self.url = url
        self.language = Locked(language)
        // Answers with ETags are kept here, and the token is all that identifies the session.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        http = URLSession(configuration: configuration)
    }

    func request(_ method: String, _ path: String, token: String?, fields: [String: String]) -> URLRequest {
        var request = URLRequest(url: url.appending(path: path))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if let language = language.withLock(\.self) {
            request.setValue(language, forHTTPHeaderField: "Accept-Language")
        }
        return request
    }

    /// Repeated when that may help, which its key makes safe for what changes something: three attempts when no answer
    /// comes or the server is busy, thirty while it still works on the first one.
    func send(
        _ method: String, _ path: String, token: String?, body: JSONValue? = nil, fields: [String: String] = [:]
    ) async throws -> Answer {
        var request = request(method, path, token: token, fields: fields)
        if let body {
            request.httpBody = try JSON.encoder.encode(body)
            if fields["Content-Type"] == nil {
                request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            }
        }
        if method != "GET" {
            request.setValue("\"\(UUID().uuidString)\"", forHTTPHeaderField: "Idempotency-Key")
        }
        var count = 0
        while true {
            count += 1
            let problem: Problem
            var pause = 0.3
            do {
                let (data, response) = try await answer(to: request)
                guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
                let status = response.statusCode
                if status < 400 {
                    return Answer(status: status, etag: Self.etag(of: response), body: data)
                }
                problem = Self.problem(status, data)
                let retryAfter = response.value(forHTTPHeaderField: "Retry-After").flatMap { UInt($0) }
                // A server may name an hour; the caller waits.
                pause = retryAfter.map { Double(min($0, 10)) } ?? pause
            } catch {
                try Task.checkCancellation()
                problem = .offline(error)
            }
            let isBusy = [0, 429, 503].contains(problem.status)
            let most = problem.code == "request_in_progress" ? 30 : isBusy ? 3 : 1
            guard count < most else { throw problem }
            try await Task.sleep(for: .seconds(pause))
        }
    }

    /// The entity tag as the server wrote it. A proxy that compresses makes it weak, or adds the coding.
    private static func etag(of response: HTTPURLResponse) -> String? {
        response.value(forHTTPHeaderField: "ETag")?
            .replacing(#/^W\/|-+(gzip|br|zstd)(?="$)/#, with: "")
    }

    /// `URLSession.data(for:)`, whose cancellation deadlocks on Linux: it waits for the queue of the session under a
    /// lock of the task that the queue wants, too.
    private func answer(to request: URLRequest) async throws -> (Data, URLResponse) {
        let running = Locked<URLSessionTask?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = http.dataTask(with: request) { data, response, error in
                    if let data, let response {
                        continuation.resume(returning: (data, response))
                    } else {
                        continuation.resume(throwing: error ?? URLError(.unknown))
                    }
                }
                running.withLock { $0 = task }
                task.resume()
                if Task.isCancelled { Self.cancel(task, of: http) }
            }
        } onCancel: {
            if let task = running.withLock(\.self) { Self.cancel(task, of: http) }
        }
    }

    /// Not in the caller's thread, which may hold the lock of a task, but in the queue of the session's callbacks. On
    /// Linux a task that finishes while it is being cancelled stops the program; a callback that has to wait for the
    /// cancellation cannot finish it meanwhile.
    private static func cancel(_ task: URLSessionTask, of session: URLSession) {
        session.delegateQueue.addOperation { task.cancel() }
    }

    private static func problem(_ status: Int, _ body: Data) -> Problem {
        (try? JSON.decoder.decode(Problem.self, from: body))
            ?? Problem(status: status, code: nil, detail: "The server answered \(status).")
    }

    /// The bytes of an answer as they come. Silence of 5 seconds at the beginning, and of 35 later, is the end: the
    /// server sends something at once, and then every 15 seconds.
    func bytes(_ path: String, token: String, fields: [String: String]) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            var request = request("GET", path, token: token, fields: fields)
            request.timeoutInterval = 35
            // `URLSession.bytes` does not exist on Linux; a delegate gets each piece everywhere.
            let delegate = PieceReader(continuation: continuation)
            let session = URLSession(configuration: http.configuration, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: request)
            let silence = Task {
                try await Task.sleep(for: .seconds(5))
                guard !delegate.hasBegun.withLock(\.self) else { return }
                continuation.finish(throwing: URLError(.timedOut))
                Self.cancel(task, of: session)
            }
            continuation.onTermination = { reason in
                silence.cancel()
                if case .cancelled = reason { Self.cancel(task, of: session) }
            }
            task.resume()
            session.finishTasksAndInvalidate()
        }
    }
}

private final class PieceReader: NSObject, URLSessionDataDelegate {
    private let continuation: AsyncThrowingStream<Data, any Error>.Continuation
    /// Whether there is a refusal, or the first piece of a stream.
    let hasBegun = Locked(false)

    init(continuation: AsyncThrowingStream<Data, any Error>.Continuation) {
        self.continuation = continuation
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        if (response as? HTTPURLResponse)?.statusCode != 200 { hasBegun.withLock { $0 = true } }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        hasBegun.withLock { $0 = true }
        if Self.status(of: dataTask) == 200 { continuation.yield(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let status = Self.status(of: task)
        if error == nil, status != 200 {
            continuation.finish(throwing: Problem(status: status, code: nil, detail: "There is no stream."))
        } else {
            continuation.finish(throwing: error)
        }
    }

    private static func status(of task: URLSessionTask) -> Int { (task.response as? HTTPURLResponse)?.statusCode ?? 0 }
}

/// A refusal of the server (RFC 9457), or status 0 and the code `offline` when no answer came.
///
/// `localizedDescription` is `detail` with the first of `violations` and its place.
public struct Problem: LocalizedError, Sendable, Decodable, CustomStringConvertible {
    /// What is wrong with the input, and where.
    public struct Violation: Decodable, Sendable, Hashable {
        /// A JSON Pointer into what was sent.
        public let pointer: String
        /// For people.
        public let detail: String
    }

    /// The status of the answer; 0 when there was none.
    public let status: Int
    /// Stable, for programs: `precondition_failed`. `GET /problems/{code}` explains it.
    public let code: String?
    /// For people.
    public let detail: String
    /// For bad input, one entry for each mistake.
    public let violations: [Violation]
    /// With `command_refused`: the service's word for it, for programs.
    public let reason: String?
    /// What the server's log calls the request.
    public let requestID: String?

    private enum CodingKeys: String, CodingKey {
        case status, code, detail, title, reason
        case violations = "errors"
        case requestID = "request_id"
    }

    init(status: Int, code: String?, detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
        violations = []
        reason = nil
        requestID = nil
    }

    /// Reads a problem document.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        status = try members.decode(Int.self, forKey: .status)
        code = try members.decodeIfPresent(String.self, forKey: .code)
        let title = try members.decodeIfPresent(String.self, forKey: .title)
        detail = try members.decodeIfPresent(String.self, forKey: .detail) ?? title ?? ""
        violations = try members.decodeIfPresent([Violation].self, forKey: .violations) ?? []
        reason = try members.decodeIfPresent(String.self, forKey: .reason)
        requestID = try members.decodeIfPresent(String.self, forKey: .requestID)
    }

    static func offline(_ cause: any Error) -> Problem {
        Problem(status: 0, code: "offline", detail: "No answer: \(cause.localizedDescription)")
    }

    static let ended = Problem(status: 401, code: "unauthenticated", detail: "The session has ended.")

    /// Whether the same request may succeed a little later.
    var isTransient: Bool { status == 0 || status == 429 || status >= 500 }

    /// A sentence for people: `detail`, the place of the first violation, and what is wrong there.
    public var errorDescription: String? {
        guard let first = violations.first else { return detail }
        let place = first.pointer.isEmpty ? "" : "\(first.pointer) "
        return "\(detail.hasSuffix(".") ? String(detail.dropLast()) : detail): \(place)\(first.detail)"
    }

    public var description: String { "\(status) \(code ?? "") \(errorDescription ?? "")" }
}
