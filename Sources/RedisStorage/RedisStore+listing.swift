import Sessions
import Synchronization

extension RedisStore {
    package func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession] {
        try await sessionsAndDamaged(ofUser: userID).sessions
    }

    package func damagedSessions(ofUser userID: String) async throws(StoreError) -> [SessionID] {
        try await sessionsAndDamaged(ofUser: userID).damaged
    }

    private func sessionsAndDamaged(
        ofUser userID: String
    ) async throws(StoreError) -> (sessions: [StoredSession], damaged: [SessionID]) {
        let reply = try await ask(RedisRequest("ZRANGE", .text(keys.user(userID)), "0", "-1", "WITHSCORES"))[0]
        if reply.list.isEmpty { try await marks.confirm(absenceOf: nil) }
        let entries = reply.pairs.compactMap { name, score in
            SessionID(name).map { (id: $0, addedAt: score.number ?? 0) }
        }.sorted { $0.id < $1.id }
        var (found, damaged) = ([StoredSession](), [SessionID]())
        let now = Self.now
        let loaded = try await hashes(entries.map(\.id), only: RedisFields.listed)
        for (entry, reply) in zip(entries, loaded) {
            let read = self.found(entry.id, reply.paired(RedisFields.listed))
            if let session = read.session, session.record.userID?.isExactly(userID) == true {
                found.append(session)
            } else if read.session == nil, !read.damage.isEmpty,
                reply[RedisFields.listedUser].text?.isExactly(userID) == true
            {
                damaged.append(entry.id)
            } else if read.damage.isEmpty, now - entry.addedAt > 60_000 {
                unindex(entry.id, user: userID)
            }
        }
        return (found, damaged)
    }

    /// The order is that of the second half's first byte, then that of ids.
    package func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage {
        // One more than requested shows whether there is another page.
        let ids = try await ids(after: id, limit: limit + 1)
        if ids.isEmpty { try await marks.confirm(absenceOf: nil) }
        let page = Array(ids.prefix(limit))
        var sessions: [StoredSession] = []
        var skipped = 0
        for (id, loaded) in zip(page, try await hashes(page)) {
            let found = found(id, loaded)
            skipped += found.damage.count
            if let session = found.session {
                sessions.append(session)
            } else if !found.damage.isEmpty {
                continue
            } else if loaded.list.isEmpty || loaded[0].text == "f" {
                doubt(id)
            } else {
                skipped += 1
            }
        }
        return SessionPage(sessions: sessions, next: ids.count > limit ? page.last : nil, skipped: skipped)
    }

    private func hashes(_ ids: [SessionID], only fields: [String] = []) async throws(StoreError) -> [RedisReply] {
        var replies: [RedisReply] = []
        // So many that no other request waits long.
        for start in stride(from: 0, to: ids.count, by: 100) {
            var request = RedisRequest()
            for id in ids[start..<min(start + 100, ids.count)] {
                let command: RedisRequest.Word = fields.isEmpty ? "HGETALL" : "HMGET"
                request.add([command, .text(keys.session(id))] + fields.map { .text($0) })
            }
            replies += try await ask(request)
        }
        return replies
    }

    /// The next ids of the list of all sessions. Fewer than requested at its end.
    func ids(after id: SessionID?, limit: Int) async throws(StoreError) -> [SessionID] {
        guard limit > 0 else { return [] }
        let first = id?.partition ?? 0
        func list(_ partition: Int, from start: String, _ limit: Int) -> RedisRequest {
            RedisRequest(
                "ZRANGEBYLEX", .text(keys.sessions(partition)), .text(start), "+", "LIMIT", "0", .text(String(limit)))
        }
        func read(_ replies: [RedisReply], into ids: inout [SessionID]) {
            for reply in replies {
                ids += reply.list.lazy.compactMap(\.text).compactMap { SessionID($0) }.prefix(limit - ids.count)
            }
        }
        var ids: [SessionID] = []
        read(try await ask(list(first, from: id.map { "(\($0)" } ?? "-", limit)), into: &ids)
        guard ids.count < limit, first + 1 < SessionID.partitions else { return ids }
        var counts = RedisRequest()
        for partition in first + 1..<SessionID.partitions { counts.add("ZCARD", .text(keys.sessions(partition))) }
        let sizes = try await ask(counts).map { Int($0.number ?? 0) }
        var left = sizes.indices.filter { sizes[$0] > 0 }[...]
        while ids.count < limit, !left.isEmpty {
            var request = RedisRequest()
            var expected = ids.count
            while expected < limit, let place = left.popFirst() {
                request.add(list(first + 1 + place, from: "-", limit - ids.count))
                expected += sizes[place]
            }
            read(try await ask(request), into: &ids)
        }
        return ids
    }

    /// A session that is in the list and does not exist. After a minute it is removed from the list.
    func doubt(_ id: SessionID) {
        if doubts.isOver("\(id)") { unindex(id) }
    }
}

/// Entries of indexes that no session confirms. A commit may be on its way, so each is removed when it has been in
/// doubt for a minute.
final class RedisDoubts: Sendable {
    private struct State {
        var since: [String: ContinuousClock.Instant] = [:]
        var lookedAt = ContinuousClock.now
    }

    private let state = Mutex(State())

    /// Whether the entry has been in doubt for long enough; then it is forgotten here.
    func isOver(_ entry: String, now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            if let first = state.since[entry] {
                guard now - first > Self.patience else { return false }
                state.since[entry] = nil
                return true
            }
            if state.since.count >= Self.most, now - state.lookedAt > Self.patience {
                // What nobody asks about any more has been confirmed.
                state.since = state.since.filter { now - $0.value < Self.patience * 60 }
                state.lookedAt = now
            }
            // The others follow when these are removed.
            if state.since.count < Self.most { state.since[entry] = now }
            return false
        }
    }

    /// The entries that have been in doubt for long enough; they are forgotten here.
    func takeOver() -> [String] {
        let now = ContinuousClock.now
        return state.withLock { state in
            let over = state.since.filter { now - $0.value > Self.patience }
            for entry in over.keys { state.since[entry] = nil }
            return Array(over.keys)
        }
    }

    static let patience = Duration.seconds(60)
    private static let most = 10_000
}

/// The number of sessions, as Redis says now and then, and what this process has added since.
final class RedisCounter: Sendable {
    private let count = Atomic<Int>(0)
    private let due = Mutex(ContinuousClock.now)
    private let keys: RedisKeys
    private let router: RedisRouter

    init(_ keys: RedisKeys, on router: RedisRouter) { (self.keys, self.router) = (keys, router) }

    var value: Int {
        let isDue = due.withLock { due in
            guard due < .now else { return false }
            due = .now + Self.interval
            return true
        }
        if isDue { refresh() }
        return max(0, count.load(ordering: .relaxed))
    }

    /// On the connection's thread, in the order of replies: a count that is asked for includes what was added before.
    /// Of a cluster it may be wrong until the next one.
    func add(_ number: Int) { count.wrappingAdd(number, ordering: .relaxed) }

    func refresh() {
        var request = RedisRequest()
        for partition in 0..<SessionID.partitions { request.add("ZCARD", .text(keys.sessions(partition))) }
        _ = router.append(request, isBounded: false) { [weak self] outcome in
            guard let replies = try? outcome.get() else { return }
            self?.count.store(Int(replies.reduce(0) { $0 + ($1.number ?? 0) }), ordering: .relaxed)
        }
    }

    private static let interval = Duration.seconds(3)
}
