import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What stands between the client and the server. Each test has a port of its own.
final class Wire: URLProtocol {
    enum Reply {
        case status(Int, code: String)
        /// Nothing comes any more, after the head or instead of it.
        case silence(afterHead: Bool)
        /// 200 with that body, which something else overtakes.
        case state(String, etag: String, after: @Sendable () async -> Void)
        /// 304, which something else overtakes.
        case notModified(after: @Sendable () async -> Void)
    }

    private struct Plan {
        let path: String
        var replies: [Reply]
        var requests: Set<String> = []
    }

    private static let plans = Mutex<[Int: Plan]>([:])

    /// The next requests to paths with that end get these replies, and do not reach the server.
    static func expect(at url: URL, path: String, replies: [Reply]) {
        plans.withLock { $0[url.port ?? 0] = Plan(path: path, replies: replies) }
    }

    static func configuration(
        to url: URL, path: String = "", replies: [Reply] = []
    ) -> URLSessionConfiguration {
        expect(at: url, path: path, replies: replies)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Wire.self]
        return configuration
    }

    /// Method, path, `Prefer`, `Idempotency-Key` and `Accept-Language` of the requests so far.
    static func requests(to url: URL) -> Set<String> { plans.withLock { $0[url.port ?? 0]?.requests ?? [] } }

    override static func canInit(with request: URLRequest) -> Bool {
        plans.withLock { plans in
            guard let url = request.url, let port = url.port, let plan = plans[port] else { return false }
            let fields = ["Prefer", "Idempotency-Key", "Accept-Language"].compactMap {
                request.value(forHTTPHeaderField: $0)
            }
            plans[port]?.requests.insert(([request.httpMethod ?? "", url.path] + fields).joined(separator: " "))
            return !plan.replies.isEmpty && url.path.hasSuffix(plan.path)
        }
    }

    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url, let port = url.port else { return }
        // Two requests may have been promised the last reply: one of them fails as if the connection were lost.
        let reply = Self.plans.withLock { plans in
            plans[port]?.replies.isEmpty == false ? plans[port]?.replies.removeFirst() : nil
        }
        switch reply {
        case .status(let status, let code)?:
            answer(status, url)
            client?.urlProtocol(self, didLoad: Data("{\"status\":\(status),\"code\":\"\(code)\"}".utf8))
            client?.urlProtocolDidFinishLoading(self)
        case .silence(let afterHead)?:
            if afterHead { answer(200, url) }
            client?.urlProtocol(self, didFailWithError: URLError(.timedOut))
        case .state(let body, let etag, let work)?:
            nonisolated(unsafe) let wire = self
            Task {
                await work()
                wire.answer(200, url, ["ETag": etag])
                wire.client?.urlProtocol(wire, didLoad: Data(body.utf8))
                wire.client?.urlProtocolDidFinishLoading(wire)
            }
        case .notModified(let work)?:
            nonisolated(unsafe) let wire = self
            Task {
                await work()
                wire.answer(304, url)
                wire.client?.urlProtocolDidFinishLoading(wire)
            }
        case nil: client?.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost))
        }
    }

    private func answer(_ status: Int, _ url: URL, _ fields: [String: String] = ["Retry-After": "0"]) {
        guard
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    override func stopLoading() {}
}
