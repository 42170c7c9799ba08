/// The table of an ``IdempotencyStore``, and the order in which its answers grow old.
struct IdempotencyMemory: Sendable {
    struct Entry: Sendable {
        /// Tells this entry from an earlier or later one with the same id.
        let number: UInt64
        var fingerprint: IdempotencyFingerprint
        /// Nil while the request is being worked on: then it neither expires nor is dropped to make room.
        var answer: (sealed: SealedAnswer, expires: Int64)?
    }

    enum Found {
        /// Nobody had it; now the caller does, under that number.
        case mine(UInt64)
        case answered(SealedAnswer, UInt64)
        case mismatch
        case inProgress
    }

    /// Tests look at what lies here, and damage it.
    var entries: [IdempotencyDigest: Entry] = [:]
    /// Answers in the order in which they were given, which is the order in which they expire, since all are kept
    /// equally long. What was dropped out of turn stays until its turn comes.
    private var order: [(id: IdempotencyDigest, number: UInt64)] = []
    /// Where `order` begins; what lies before is cut off now and then.
    private var oldest = 0
    private var nextNumber: UInt64 = 0
    private(set) var answers = 0
    private(set) var bytes = 0

    mutating func begin(_ id: IdempotencyDigest, _ fingerprint: IdempotencyFingerprint, now: Int64) -> Found {
        if let entry = entries[id] {
            guard let answer = entry.answer else {
                return entry.fingerprint == fingerprint ? .inProgress : .mismatch
            }
            if answer.expires > now {
                return entry.fingerprint == fingerprint ? .answered(answer.sealed, entry.number) : .mismatch
            }
            drop(id, entry.number)
        }
        nextNumber += 1
        entries[id] = Entry(number: nextNumber, fingerprint: fingerprint)
        return .mine(nextNumber)
    }

    mutating func finish(
        _ id: IdempotencyDigest, _ number: UInt64, _ sealed: SealedAnswer, expires: Int64,
        fingerprint: IdempotencyFingerprint?
    ) {
        guard let entry = entries[id], entry.number == number, entry.answer == nil else { return }
        entries[id]?.answer = (sealed, expires)
        if let fingerprint { entries[id]?.fingerprint = fingerprint }
        order.append((id, number))
        answers += 1
        bytes += sealed.size
    }

    /// Forgets that entry, if it is still there.
    mutating func drop(_ id: IdempotencyDigest, _ number: UInt64) {
        guard let entry = entries[id], entry.number == number else { return }
        entries[id] = nil
        guard let answer = entry.answer else { return }
        answers -= 1
        bytes -= answer.sealed.size
    }

    mutating func dropExpired(now: Int64, atMost limit: Int) {
        for _ in 0..<limit {
            guard let next = order[oldest...].first else { return }
            if let entry = entries[next.id], entry.number == next.number, let answer = entry.answer {
                guard answer.expires <= now else { return }
            }
            dropFirst()
        }
    }

    mutating func dropOldest(entries limit: Int, bytes byteLimit: Int) {
        while answers > limit || bytes > byteLimit { dropFirst() }
    }

    private mutating func dropFirst() {
        let (id, number) = order[oldest]
        drop(id, number)
        oldest += 1
        // Half of the room wasted at most, and every place moved once on average.
        guard oldest >= 1_024, oldest * 2 >= order.count else { return }
        order.removeFirst(oldest)
        oldest = 0
    }
}
