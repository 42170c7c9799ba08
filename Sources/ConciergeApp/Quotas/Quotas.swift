import API
import Configuration
import HTTPServer
import JSONDocument
import Operations
import Sessions
import Synchronization

/// Counts the requests of each client on the public listener, and refuses those beyond a quota.
///
/// A client is an address (of IPv6: its /64) and, once its token has proved it, a session. A forged token costs nobody
/// but its sender's address, and a session's new token renews nothing.
final class Quotas: Sendable {
    private final class Counted: Sendable {
        let name: String
        let buckets: TokenBuckets
        let refusals = Atomic(0)

        init(_ name: String, _ quota: Quota) {
            self.name = name
            buckets = TokenBuckets(quota)
        }
    }

    private let requests, sessions, sessionRequests: Counted?
    private let exempt: [AddressRange]
    private let proxies: [AddressRange]

    /// - Parameter proxies: those whose word about a client's address counts.
    init(_ settings: Configuration.Quotas, proxies: [AddressRange]) {
        requests = settings.requests.map { Counted("requests", $0) }
        sessions = settings.sessions.map { Counted("sessions", $0) }
        sessionRequests = settings.sessionRequests.map { Counted("session_requests", $0) }
        exempt = settings.exempt
        self.proxies = proxies
    }

    /// - Parameter other: the refusals of a quota that is counted elsewhere.
    func write(to metrics: inout OpenMetricsWriter, and other: (quota: String, count: Int)) {
        let counted = [requests, sessions, sessionRequests].compactMap(\.self)
        metrics.counter(
            "concierge_quota_refusals", help: "Requests beyond a quota.",
            by: "quota", counted.map { ($0.name, $0.refusals.load(ordering: .relaxed)) } + [other])
    }

    /// Counts a request; health checks and preflights (Fetch, "CORS-preflight request") do not count.
    ///
    /// - Returns: the fields of its response, when less than half of a quota is left.
    /// - Throws: `Problem` 429.
    func admit(_ request: HTTPRequest) throws(Problem) -> HTTPFields? {
        let route = request.match.route?.pattern.text
        if route == "/health/ready" || route == "/health/alive" { return nil }
        // A page could not see the response.
        if request.method == .options, request.fields.contains("Access-Control-Request-Method") { return nil }
        if isExempt(request) { return nil }
        var fields: HTTPFields?
        let network = request.client.network
        if let requests { try take(network, requests, request, &fields) }
        if let sessions, request.method == .post, route == "/v1/sessions" {
            try take(network, sessions, request, &fields)
        }
        return fields
    }

    /// Counts a request of a session, whose token has proved that it is one.
    ///
    /// - Parameter watchers: how many clients are told of what it writes. Eight of them count like a request.
    /// - Throws: `Problem` 429.
    func count(_ request: HTTPRequest, of session: SessionID, watchers: Int) throws(Problem) {
        guard let sessionRequests, !isExempt(request) else { return }
        var fields: HTTPFields?
        let key = session.low ^ session.high &* 0x9E37_79B9_7F4A_7C15
        let count = min(1 + watchers / 8, sessionRequests.buckets.quota.count)
        try take(key, count: count, sessionRequests, request, &fields)
        if let fields { request.addToResponse(fields) }
    }

    private func isExempt(_ request: HTTPRequest) -> Bool {
        exempt.contains { $0.contains(request.client) } && !isOfUnknownProxy(request)
    }

    /// Whether the request says that a proxy sent it, and the proxy is not known: then its client may be anyone.
    private func isOfUnknownProxy(_ request: HTTPRequest) -> Bool {
        Self.forwarded.contains { request.fields.contains($0) } && !proxies.contains { $0.contains(request.peer) }
    }

    private static let forwarded = [HTTPFieldName("X-Forwarded-For"), HTTPFieldName("Forwarded")]

    /// - Parameter fields: get what the client is told when less than half of the quota is left.
    private func take(
        _ key: UInt64, count: Int = 1, _ counted: Counted, _ request: HTTPRequest, _ fields: inout HTTPFields?
    ) throws(Problem) {
        let reading = counted.buckets.take(key, count, now: request.receivedAt)
        guard reading.isTaken else {
            counted.refusals.wrappingAdd(1, ordering: .relaxed)
            throw Self.refusal(by: counted.buckets.quota, named: counted.name, reading)
        }
        guard reading.isLow else { return }
        let more: HTTPFields = [
            .rateLimitPolicy: Self.policy(counted.buckets.quota, counted.name),
            .rateLimit: Self.limit(counted.name, reading),
        ]
        if fields == nil { fields = more } else { fields?.add(contentsOf: more) }
    }

    /// The problem for a request beyond a quota.
    static func refusal(by quota: Quota, named name: String, _ reading: TokenBuckets.Reading) -> Problem {
        Problem(
            .quotaExceeded, members: [("violated_policies", [JSONDocument(name)])],
            fields: [
                .rateLimitPolicy: policy(quota, name), .rateLimit: limit(name, reading),
                .retryAfter: "\(seconds(reading.wait))",
            ])
    }

    private static func policy(_ quota: Quota, _ name: String) -> String {
        "\"\(name)\";q=\(quota.count);w=\(quota.window.components.seconds)"
    }

    private static func limit(_ name: String, _ reading: TokenBuckets.Reading) -> String {
        "\"\(name)\";r=\(reading.remaining);t=\(seconds(reading.untilFull))"
    }

    /// Whole seconds, at least one.
    private static func seconds(_ nanoseconds: UInt64) -> UInt64 { max(1, (nanoseconds + 999_999_999) / 1_000_000_000) }
}

extension HTTPFieldName {
    static let rateLimit = HTTPFieldName("RateLimit")
    static let rateLimitPolicy = HTTPFieldName("RateLimit-Policy")
}
