import Sessions

extension RedisStore {
    package func end(
        _ id: SessionID, as standing: SessionStanding?, telling notice: StoredTask?
    ) async throws(StoreError) -> Bool {
        // Another server may commit between the two steps. The end must not wait for long until none does.
        for attempt in 0..<100 {
            if attempt > 1 { try await reserve(id) }
            let reply = try await ask(RedisRequest("HMGET", .text(keys.session(id)), "r", "h", "o", "u"))[0]
            guard let revision = reply[0].text else {
                try await marks.confirm(absenceOf: id)
                return false
            }
            let usedAt = reply[3].text ?? ""
            if let standing, standing.revision != UInt64(revision) || standing.lastUsedAt != Int64(usedAt) {
                throw .conflict
            }
            let ending = Ending(
                id: id, revision: revision, head: fields(id).head(reply), usedAt: standing == nil ? "" : usedAt,
                notice: notice)
            switch try await end([ending])[0] {
            case 1: return true
            case 0: return false
            default: continue
            }
        }
        throw .unavailable("Other servers keep changing \(id).")
    }

    package func reserve(_ id: SessionID) async throws(StoreError) {
        _ = try await ask(reserving(id, for: Self.reservation))
    }

    package func release(_ id: SessionID) { send(reserving(id, for: 0)) }

    func reserving(_ id: SessionID, for milliseconds: Int) -> RedisRequest {
        var request = RedisRequest()
        request.call(.reserve, keys.session(id), .text(name), .text(String(milliseconds)))
        return request
    }

    /// For how many milliseconds a session is reserved: longer than reading and writing it take, and so short that
    /// nobody notices a server that ends in between.
    private static let reservation = 1_000

    /// A session that is to end if it is as it was seen.
    private struct Ending: Sendable {
        let id: SessionID
        let revision: String
        let head: RedisFields.Head?
        /// "" for any.
        let usedAt: String
        var notice: StoredTask?

        /// Above all revisions that it has given.
        var next: UInt64 { max(UInt64(revision) ?? 0, head?.details.revisionFloor ?? 0) &+ 1 }
    }

    /// Returns the results of the script.
    private func end(_ endings: [Ending]) async throws(StoreError) -> [Int64] {
        guard let next = endings.map(\.next).max() else { return [] }
        var request = RedisRequest()
        // If its outcome is lost, it is not known whether we have ended it.
        request.isRepeatable = false
        request.needsReplicas = true
        request.call(.raise, keys.floor, .text(String(next)))
        for notice in endings.compactMap(\.notice) { index(notice, &request, insists: true) }
        let prepared = request.count
        request.beginStage()
        for ending in endings {
            var arguments = RedisRequest.Arguments([
                .text(ending.revision), .text(ending.usedAt), .text(String(ending.next)),
                .text(String(Self.lateness)), .text(String(settings.noticeTime)),
            ])
            if let notice = ending.notice { arguments.add(notice) }
            request.call(.end, .text(keys.session(ending.id)), arguments)
        }
        let replies = try await ask(request) { [self] replies in
            for (ending, reply) in zip(endings, replies.dropFirst(prepared)) where reply[0].number == 1 {
                counter.add(-1)
                unindex(ending.id)
                unindex(ending.id, reply, user: nil)
                var removal = RedisRequest()
                moveDue(ending.id, to: .max, &removal)
                place(PlacedSession(ending.id, revision: .max, places: []), &removal)
                send(removal)
            }
        }
        return replies.dropFirst(prepared).map { $0[0].number ?? 0 }
    }

    package func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        // By a wrong clock none would have expired.
        guard time.trouble == nil else { return ExpiredSessions(count: 0, looked: 0) }
        for id in doubts.takeOver() { SessionID(id).map { unindex($0) } }
        // Servers take turns, and each goes on where the last one was: for all of them, each session is looked at as
        // often as for one.
        var turn = RedisRequest("GET", .text(keys.swept))
        turn.add("SET", .text(keys.sweeper), .text(name), "NX", "GET", "PX", .text(String(Self.turnTime)))
        do throws(StoreError) {
            let replies = try await ask(turn)
            switch replies[1].text {
            case nil: lastSearched.withLock { $0 = replies[0].text.flatMap { SessionID($0) } }
            case name: break
            default: return ExpiredSessions(count: 0, looked: 0)
            }
        } catch {
            // A Redis that is full needs it most.
            guard case .full = error else { throw error }
        }
        let ids = try await ids(after: lastSearched.withLock(\.self), limit: query.limit)
        let last = ids.count < query.limit ? nil : ids.last
        lastSearched.withLock { $0 = last }
        var progress = RedisRequest()
        progress.add(["SET", .text(keys.swept), .text(last.map { "\($0)" } ?? "")], insists: true)
        send(progress)
        var request = RedisRequest()
        for id in ids { request.add("HMGET", .text(keys.session(id)), "r", "h", "o", "u", "w", "d", "n") }
        let replies = try await ask(request)
        var (overdue, candidates, kept) = ([Ending](), [Shedding.Candidate](), 0)
        var untimed: [SessionID] = []
        var lost = RedisRequest()
        for (id, reply) in zip(ids, replies) {
            guard let revision = reply[0].text else {
                doubt(id)
                continue
            }
            guard let used = reply[3].text, let usedAt = Int64(used), let head = fields(id).head(reply) else {
                continue
            }
            // Other servers may know of later uses. So no session counts as never used.
            let lastUsedAt = min(usedAt, Self.never) + settings.useLag
            let times = SessionTimes(dueAt: reply[5].number ?? .max, keptUntil: reply[4].number ?? .min)
            let deadline = query.deadline(
                lastUsedAt, idleTimeout: head.details.idleTimeout, expiresAt: head.expiresAt)
            if query.isKept(after: deadline, until: times.keptUntil) { kept += 1 }
            if RedisCommit.isUntimed(after: reply[6].text) { untimed.append(id) }
            // Where the node that has the set of due times has lost something, it comes again.
            if times.dueAt <= query.now { bringForward(id, to: times.dueAt, &lost, insists: true) }
            if query.isOver(after: deadline, times) {
                guard !query.isInUse(id) else { continue }
                if let tell = query.onOverdue {
                    tell(id)
                } else {
                    overdue.append(Ending(id: id, revision: revision, head: head, usedAt: used))
                }
            } else if let candidate = query.candidate(
                id, revision: .max, lastUsedAt: lastUsedAt, expiresAt: head.expiresAt, keptUntil: times.keptUntil,
                hasUser: reply[2].text != nil),
                !query.isInUse(id)
            {
                candidates.append(candidate)
            }
        }
        send(lost)
        if let tell = query.onUnplaced {
            // Of a cluster the node that has the index may be away.
            try? await tellUnplaced(
                zip(ids, replies).compactMap { id, reply in reply[0].text.map { (id, $0) } }, tell)
        }
        if let tell = query.onUntimed { for id in try await haveJourneys(untimed) { tell(id) } }
        let ended = try await end(overdue)
        return ExpiredSessions(
            count: ended.count { $0 == 1 }, looked: ids.count, candidates: candidates, kept: kept)
    }

    func haveJourneys(_ ids: [SessionID]) async throws(StoreError) -> [SessionID] {
        var request = RedisRequest()
        for id in ids { request.add("HEXISTS", .text(keys.session(id)), "s:\(CoordinatorService.name)") }
        return zip(ids, try await ask(request)).filter { $1.number == 1 }.map(\.0)
    }
}

extension RedisFields {
    /// - Parameter reply: of `HMGET … r h o`.
    fileprivate func head(_ reply: RedisReply) -> Head? { reply[1].bytes.flatMap { head($0, user: reply[2].text) } }
}
