import Sessions

/// The set of due times tells where to look, and is never later than what the session says: an entry is only brought
/// forward before a commit. What comes up too early is moved then.
extension RedisStore {
    /// For how many milliseconds no other server looks at a session that was handed out.
    static let dueLease: Int64 = 5_000

    package func dueSessions(now: Int64, limit: Int) async throws(StoreError) -> [DueSession] {
        // By a wrong clock everything would be due, or nothing.
        guard time.trouble == nil else { return [] }
        // Entries of sessions that have nothing to do any more keep no others back.
        while true {
            let (due, isLast) = try await nextDueSessions(now: now, limit: limit)
            if isLast || !due.isEmpty { return due }
        }
    }

    private func nextDueSessions(
        now: Int64, limit: Int
    ) async throws(StoreError) -> (due: [DueSession], isLast: Bool) {
        var claim = RedisRequest()
        claim.call(
            .lend, keys.due, .text(String(now)), .text(String(limit)), .text(String(now.later(by: Self.dueLease))))
        let ids = try await ask(claim)[0].list.compactMap { $0.text.flatMap { SessionID($0) } }
        var request = RedisRequest()
        for id in ids { request.add("HMGET", .text(keys.session(id)), "r", "d") }
        var due: [DueSession] = []
        var repair = RedisRequest()
        for (id, reply) in zip(ids, try await ask(request)) {
            if reply[0].text != nil, let time = reply[1].number {
                if time <= now { due.append(DueSession(id: id, dueAt: time)) } else { move(id, to: time, &repair) }
            } else if taskDoubts.isOver("\(keys.due) \(id)") {
                // A commit that was on its way a minute ago is not any more.
                move(id, to: .max, &repair)
            }
        }
        send(repair)
        return (due, ids.count < limit)
    }

    package func putOff(_ due: DueSession, to time: Int64) async throws(StoreError) {
        var request = RedisRequest()
        request.needsReplicas = true
        request.call(
            .swap, keys.session(due.id), "d", .text(String(due.dueAt)), .text(time == .max ? "" : String(time)))
        request.beginStage()
        move(due.id, to: time, &request)
        let replies = try await ask(request)
        guard replies[0].number == 0 else { return }
        // Another server was faster, and the set says what this one has put there.
        let current = try await ask(RedisRequest("HGET", .text(keys.session(due.id)), "d"))[0].number
        var repair = RedisRequest()
        if let current { repair.add(dueEntry(due.id, at: current), insists: true) }
        send(repair)
    }

    /// Brings an entry forward, or adds it.
    func dueEntry(_ id: SessionID, at time: Int64) -> [RedisRequest.Word] {
        ["ZADD", .text(keys.due), "LT", .text(String(time)), .text("\(id)")]
    }

    private func move(_ id: SessionID, to time: Int64, _ request: inout RedisRequest) {
        if time < .max {
            request.add(["ZADD", .text(keys.due), .text(String(time)), .text("\(id)")], insists: true)
        } else {
            request.add("ZREM", .text(keys.due), .text("\(id)"))
        }
    }
}
