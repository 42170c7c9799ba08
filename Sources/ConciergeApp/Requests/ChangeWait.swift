import HTTPServer
import Sessions

/// `Prefer: wait`, RFC 7240, section 4.3: how long the client wants to wait for something else than it knows.
struct ChangeWait: Sendable {
    private let seconds: Int
    private let address: UInt64

    static let longest = Duration.seconds(60)

    /// Nil for a request that does not wait: one that names no version that the client knows, or without the
    /// preference.
    init?(_ request: HTTPRequest) {
        guard request.fields.contains(.prefer), request.method.isSafe, request.fields.contains(.ifNoneMatch),
            let seconds = request.preference("wait").flatMap({ UInt($0) })
        else { return nil }
        self.seconds = Int(min(seconds, UInt(Self.longest.components.seconds)))
        address = request.client.network
    }

    /// What a look at the resource gives.
    struct Look {
        let response: HTTPResponse
        /// When it may change although nobody writes; nil for never.
        let dueAt: Int64?
    }

    /// Looks at once and after each commit of the session, until there is another version than the client knows.
    ///
    /// The wait ends when the caller's token is replaced: what changes from then on is not for this client.
    func respond(_ found: FoundSession, _ look: () async throws -> Look) async throws -> HTTPResponse {
        let session = found.session
        let now = session.now
        let watcher: SessionWatcher
        do {
            watcher = try session.watch(token: found.token?.digest, from: address)
        } catch is WatchError {
            // The server stops: a preference need not be applied.
            return try await look().response
        }
        defer { watcher.leave() }
        let deadline = now() + Int64(seconds) * 1_000
        var (lookedAt, seen) = (now(), try await look())
        waiting: while seen.response.status == .notModified, now() < deadline, !Task.isCancelled {
            // What was due before a look has happened, as far as it can.
            let due = seen.dueAt.flatMap { $0 > lookedAt ? $0 : nil } ?? .max
            switch await watcher.next(until: min(deadline, due)) {
            case .commits where watcher.isOver: break waiting
            case .ended(.tokenReplaced), .ended(.stopping), .ended(.gap), .ended(.displaced): break waiting
            case .nothing where due > now(): continue
            case .commits, .nothing, .lost, .ended(.sessionEnded): (lookedAt, seen) = (now(), try await look())
            }
        }
        var response = seen.response
        response.fields.add(.preferenceApplied, "wait=\(seconds)")
        return response
    }
}

extension HTTPRequest {
    /// The value of the first preference of that name in `Prefer`, RFC 7240, section 2: a token, or the same in quotes.
    func preference(_ name: String) -> Substring? {
        for line in fields.values(of: .prefer) {
            for preference in line.split(separator: ",") {
                let parts = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].filter({ $0 != " " }).lowercased() == name else { continue }
                return parts[1].drop { $0 == " " || $0 == "\"" }.prefix { $0 != " " && $0 != "\"" }
            }
        }
        return nil
    }
}
