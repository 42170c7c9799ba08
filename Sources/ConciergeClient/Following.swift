import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a session knows of those that watch it. One event stream serves them all, and exists while there is one.
struct Following {
    var token: String
    var hasEnded = false
    /// False where no stream gets through: then each watcher waits with requests of its own.
    var hasStream = true
    var watchers: [UUID: Watcher] = [:]
    var task: Task<Void, Never>?

    struct Watcher {
        let isConcerned: @Sendable (Change) -> Bool
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
    func notices(where isConcerned: @escaping @Sendable (Change) -> Bool) -> AsyncStream<Void> {
        let (stream, notices) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let key = UUID()
        notices.onTermination = { [weak self] _ in self?.unwatch(key) }
        let hasEnded = following.withLock { following in
            if !following.hasEnded {
                following.watchers[key] = Following.Watcher(isConcerned: isConcerned, notices: notices)
                if following.task == nil, following.hasStream { following.task = Task { await self.followStream() } }
            }
            // The watcher's first look.
            notices.yield()
            return following.hasEnded
        }
        if hasEnded { notices.finish() }
        return stream
    }

    private func unwatch(_ key: UUID) {
        let idle = following.withLock { following -> Task<Void, Never>? in
            guard following.watchers.removeValue(forKey: key) != nil, following.watchers.isEmpty else { return nil }
            defer { following.task = nil }
            return following.task
        }
        idle?.cancel()
    }

    func replaceToken(by token: String) {
        let old = following.withLock { following -> Task<Void, Never>? in
            guard token != following.token else { return nil }
            let old = following.task
            (following.token, following.hasEnded) = (token, false)
            if old != nil { following.task = Task { await self.followStream() } }
            return old
        }
        old?.cancel()
        tell(Change())
    }

    /// A token was refused. A sign-in kills the old one a little before the app has the new one: if none comes within
    /// ten seconds, the session has ended.
    func doubt(_ token: String) {
        Task { [weak self] in
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

    private func tell(_ change: Change) {
        let watchers = following.withLock { $0.watchers.values.map(\.self) }
        for watcher in watchers where change.type == "refresh" || watcher.isConcerned(change) {
            watcher.notices.yield()
        }
    }

    /// Reads the stream until the task is cancelled, the session ends or its token is replaced, and reconnects.
    private func followStream() async {
        var last: String?
        var delay = 0.5
        while !Task.isCancelled {
            var isSilent = true
            let token = token
            do {
                let fields = ["Accept": "text/event-stream"].merging(last.map { ["Last-Event-ID": $0] } ?? [:]) { $1 }
                var text = Data()
                for try await piece in transport.bytes("\(Self.current)/events", token: token, fields: fields) {
                    text += piece
                    while let end = text.firstRange(of: Data("\n\n".utf8)) {
                        let (change, id) = Self.change(in: text[..<end.lowerBound])
                        text.removeSubrange(..<end.upperBound)
                        (isSilent, delay) = (false, 0.5)
                        last = id ?? last
                        guard let change else { continue }
                        switch (change.type, change.reason) {
                        case ("session.ended", _): return finish()
                        // Used after its grace, the old token would end the session. The new one starts a new stream.
                        case ("stream.closed", "token_replaced"): return doubt(token)
                        case ("stream.closed", "reset"): last = nil
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
                let isHeldBack = isSilent && last == nil && (error as? URLError)?.code == .timedOut
                if [404, 405, 406].contains(status) || isHeldBack {
                    following.withLock { ($0.hasStream, $0.task) = (false, nil) }
                    return tell(Change())
                }
                delay = min(delay * 2, 30)
            }
            try? await Task.sleep(for: .seconds(delay * .random(in: 0.5...1)))
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
