import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a session knows of those that watch it. One event stream serves them all, and exists while there is one.
struct Following {
    var token: String
    var hasEnded = false
    /// Of the challenge that events carry, until it has proved who signed in.
    var verifier: Verifier?
    /// The request for the token after a sign-in; gives whether it came.
    var exchange: Task<Bool, any Error>?
    /// When the stream is tried again after one that did not get through. Until then one request waits for a change.
    var streamsFrom = ContinuousClock.now
    var watchers: [UUID: Watcher] = [:]
    /// The watcher whose value the waiting request is for.
    var waiting: UUID?
    var task: Task<Void, Never>?

    struct Watcher {
        let isConcerned: @Sendable (Change) -> Bool
        /// A journey changes with everything that it shows.
        let isJourney: Bool
        /// Returns when the value has changed, or after a while.
        let wait: @Sendable () async throws -> Void
        let notices: AsyncStream<Void>.Continuation
    }
}

/// An event of the stream, in the members that decide who reads again.
struct Change: Decodable, Sendable {
    /// `refresh`: anything may have changed.
    var type = "refresh"
    var service: String?
    var journey: String?
    var etag: String?
    var reason: String?

    private enum CodingKeys: String, CodingKey { case service, journey, etag, reason }
}

extension Session {
    /// One element for any number of changes that the watcher has not looked at yet; ends with the session.
    func notices(
        where isConcerned: @escaping @Sendable (Change) -> Bool, isJourney: Bool,
        wait: @escaping @Sendable () async throws -> Void
    ) -> AsyncStream<Void> {
        let (stream, notices) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let key = UUID()
        notices.onTermination = { [weak self] _ in self?.unwatch(key) }
        let hasEnded = following.withLock { following in
            if !following.hasEnded {
                following.watchers[key] = Following.Watcher(
                    isConcerned: isConcerned, isJourney: isJourney, wait: wait, notices: notices)
                if following.task == nil { following.task = Task { await self.followChanges() } }
            }
            // The watcher's first look.
            notices.yield()
            return following.hasEnded
        }
        if hasEnded { notices.finish() }
        return stream
    }

    private func unwatch(_ key: UUID) {
        let old = following.withLock { following -> Task<Void, Never>? in
            guard following.watchers.removeValue(forKey: key) != nil else { return nil }
            let isIdle = following.watchers.isEmpty
            guard isIdle || following.waiting == key else { return nil }
            defer { following.task = isIdle ? nil : Task { await self.followChanges() } }
            return following.task
        }
        old?.cancel()
    }

    func replaceToken(by token: String) {
        let old = following.withLock { following -> Task<Void, Never>? in
            guard token != following.token else { return nil }
            let old = following.task
            (following.token, following.hasEnded) = (token, false)
            if old != nil { following.task = Task { await self.followChanges() } }
            return old
        }
        old?.cancel()
        tell(Change())
    }

    /// A token was refused. A sign-in ends the old one a little before this client or the app has the new one: if none
    /// comes within ten seconds, the session has ended.
    func doubt(_ token: String) {
        Task { [weak self] in
            if (try? await self?.exchange(token)) == true { return }
            try await Task.sleep(for: .seconds(10))
            if let self, self.token == token { self.finish() }
        }
    }

    /// The session is over: every watcher learns it.
    func finish() {
        let (task, watchers) = following.withLock { following in
            defer { (following.hasEnded, following.task, following.watchers) = (true, nil, [:]) }
            return (following.task, following.watchers.values.map(\.notices))
        }
        task?.cancel()
        for notices in watchers { notices.finish() }
    }

    /// Lets those read again that the change is of.
    func tell(_ change: Change) {
        let watchers = following.withLock { $0.watchers.values.map(\.self) }
        for watcher in watchers where change.type == "refresh" || watcher.isConcerned(change) {
            watcher.notices.yield()
        }
    }

    /// One request waits for all watchers: `URLSession` opens only a few connections to a server.
    private func waitForChange() async throws {
        let watcher = following.withLock { following in
            let chosen = following.watchers.first(where: \.value.isJourney) ?? following.watchers.first
            following.waiting = chosen?.key
            return chosen?.value
        }
        try await watcher?.wait()
        tell(Change())
    }

    /// Reads the stream, or waits where none gets through, until the task is cancelled, the session ends or its token
    /// is replaced.
    private func followChanges() async {
        var last: String?
        var delay = 0.5
        while !Task.isCancelled {
            // Until the first block, which comes at once unless a proxy keeps it.
            var isHeldBack = true
            let token = token
            do {
                if following.withLock(\.streamsFrom) > .now {
                    try await waitForChange()
                    (last, delay) = (nil, 0.5)
                    try await Task.sleep(for: .seconds(delay))
                    continue
                }
                following.withLock { $0.waiting = nil }
                // Not what an EventSource of a browser accepts, which is told less of a problem.
                let fields = ["Accept": "text/event-stream, application/problem+json"].merging(
                    last.map { ["Last-Event-ID": $0] } ?? [:]
                ) { $1 }
                var text = Data()
                for try await piece in transport.bytes("\(Self.current)/events", token: token, fields: fields) {
                    text += piece
                    isHeldBack = false
                    while let end = text.firstRange(of: Data("\n\n".utf8)) {
                        let (change, id) = Self.change(in: text[..<end.lowerBound])
                        text.removeSubrange(..<end.upperBound)
                        delay = 0.5
                        last = id ?? last
                        guard let change else { continue }
                        switch (change.type, change.reason) {
                        case ("session.ended", _): return finish()
                        // Used after its grace, the old token would end the session. The new one starts a new stream.
                        case ("stream.closed", "token_replaced"): return doubt(token)
                        case ("stream.closed", "reset"): last = nil
                        // Too many watch the session: at once this one would displace another.
                        case ("stream.closed", "displaced"): delay = 30
                        default: tell(change)
                        }
                    }
                }
            } catch let problem as Problem where problem.status == 401 {
                return doubt(token)
            } catch let problem as Problem where problem.status == 410 {
                last = nil
            } catch {
                let status = (error as? Problem)?.status ?? 0
                let isTimedOut = (error as? URLError)?.code == .timedOut
                if [404, 405, 406].contains(status) || (isHeldBack && isTimedOut) {
                    following.withLock { $0.streamsFrom = .now + .seconds(300) }
                    continue
                }
                delay = min(delay * 2, 30)
            }
            try? await Task.sleep(for: .seconds(delay * .random(in: 1...4)))
        }
    }

    /// A block of the stream. The first one has an id alone: every change after it will come, so whatever was read
    /// before is read again. A comment has neither.
    private static func change(in block: Data) -> (Change?, id: String?) {
        var members: [Substring: Substring] = [:]
        for line in String(decoding: block, as: UTF8.self).split(separator: "\n") where !line.hasPrefix(":") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { members[parts[0]] = parts[1].drop { $0 == " " } }
        }
        let id = members["id"].map(String.init)
        guard let data = members["data"] else { return (id == nil ? nil : Change(), id) }
        var change = try? JSON.decoder.decode(Change.self, from: Data(data.utf8))
        change?.type = members["event"].map(String.init) ?? "refresh"
        return (change, id)
    }
}
