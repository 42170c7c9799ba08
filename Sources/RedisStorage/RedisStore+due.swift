import Sessions

/// The index of due times tells where to look, and is never later than what the session says: an entry is only brought
/// forward before a commit. What comes up too early is moved then.
///
/// A sorted set of a million sessions would cost 125 bytes an entry. So the entries are in ``partCount`` sets, so small
/// that Redis packs each into one piece of memory (`zset-max-listpack-entries`), at 28 bytes an entry, and one more set
/// has the first time of each part. Scripts keep the two in step.
extension RedisStore {
    /// For how many milliseconds no other server looks at a session that was handed out.
    static let dueLease: Int64 = 5_000

    /// So many that Redis packs the parts of three million sessions, 128 entries each.
    private static let partCount: UInt64 = 32_768

    package func dueSessions(now: Int64, limit: Int) async throws(StoreError) -> [DueSession] {
        // By a wrong clock everything would be due, or nothing.
        guard time.trouble == nil else { return [] }
        // Entries of sessions that have nothing to do any more keep no others back.
        while true {
            let (due, isLast) = try await nextDueSessions(now: now, limit: limit)
            if isLast || !due.isEmpty { return due.sorted { $0.dueAt < $1.dueAt } }
        }
    }

    private func nextDueSessions(
        now: Int64, limit: Int
    ) async throws(StoreError) -> (due: [DueSession], isLast: Bool) {
        var claim = RedisRequest()
        claim.call(
            .lend, keys.due, .text(String(now)), .text(String(limit)), .text(String(now.later(by: Self.dueLease))))
        let ids = try await ask(claim)[0].list.compactMap { $0.bytes.flatMap { SessionID(bytes: $0) } }
        var request = RedisRequest()
        for id in ids { request.add("HMGET", .text(keys.session(id)), "r", "d") }
        var due: [DueSession] = []
        var repair = RedisRequest()
        for (id, reply) in zip(ids, try await ask(request)) {
            if reply[0].text != nil, let time = reply[1].number {
                if time <= now { due.append(DueSession(id: id, dueAt: time)) } else { moveDue(id, to: time, &repair) }
            } else if taskDoubts.isOver("\(keys.due) \(id)") {
                // A commit that was on its way a minute ago is not any more.
                moveDue(id, to: .max, &repair)
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
        moveDue(due.id, to: time, &request)
        let replies = try await ask(request)
        guard replies[0].number == 0 else { return }
        // Another server was faster, and the set says what this one has put there.
        let current = try await ask(RedisRequest("HGET", .text(keys.session(due.id)), "d"))[0].number
        var repair = RedisRequest()
        if let current { bringForward(due.id, to: current, &repair, insists: true) }
        send(repair)
    }

    /// Brings an entry forward, or adds it.
    ///
    /// - Parameter insists: whether it is done also when Redis has no memory left: for a session that is stored.
    func bringForward(_ id: SessionID, to time: Int64, _ request: inout RedisRequest, insists: Bool) {
        request.call(
            insists ? .insistOnTime : .bringForward, keys.due, .text(Self.part(of: id)), .bytes(id.bytes),
            .text(String(time)), "LT")
    }

    /// - Parameter time: `.max` to remove the entry.
    func moveDue(_ id: SessionID, to time: Int64, _ request: inout RedisRequest) {
        request.call(
            .insistOnTime, keys.due, .text(Self.part(of: id)), .bytes(id.bytes), .text(time < .max ? String(time) : ""))
    }

    private static func part(of id: SessionID) -> String { String(id.low % partCount) }
}

extension SessionID {
    /// As a member of an index, where each byte counts.
    var bytes: [UInt8] {
        [high, low].flatMap { half in withUnsafeBytes(of: half.bigEndian) { Array($0) } }
    }

    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        let halves = bytes.withUnsafeBytes { bytes in
            [0, 8].map { UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }
        }
        self.init(high: halves[0], low: halves[1])
    }
}
