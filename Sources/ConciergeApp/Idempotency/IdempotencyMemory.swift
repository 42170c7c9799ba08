import Sessions

/// The table of an ``IdempotencyStore``, and the order in which its responses expire.
struct IdempotencyMemory: Sendable {
    struct Entry: Sendable {
        /// Tells this entry from an earlier or later one with the same id.
        let number: UInt64
        var fingerprint: IdempotencyFingerprint
        /// Nil while the request is in progress: then it neither expires nor is dropped to make room.
        var response: (sealed: SealedResponse, expires: Int64)?
    }

    enum Found {
        /// The id was free; now it is the caller's, under that number.
        case mine(UInt64)
        case answered(SealedResponse, UInt64)
        case mismatch
        case inProgress
    }

    /// Tests look at what lies here, and damage it.
    var entries: [SHA256Digest: Entry] = [:]
    /// In the order in which the responses were given, which is the order in which they expire, since all are kept
    /// equally long. An entry that was dropped out of turn stays here until its turn comes.
    private var order: [(id: SHA256Digest, number: UInt64)] = []
    /// Where `order` begins; what lies before is cut off now and then.
    private var oldest = 0
    private var nextNumber: UInt64 = 0
    private(set) var count = 0
    private(set) var bytes = 0

    mutating func begin(_ id: SHA256Digest, _ fingerprint: IdempotencyFingerprint, now: Int64) -> Found {
        if let entry = entries[id] {
            guard let response = entry.response else {
                return entry.fingerprint == fingerprint ? .inProgress : .mismatch
            }
            if response.expires > now {
                return entry.fingerprint == fingerprint ? .answered(response.sealed, entry.number) : .mismatch
            }
            drop(id, entry.number)
        }
        nextNumber += 1
        entries[id] = Entry(number: nextNumber, fingerprint: fingerprint)
        return .mine(nextNumber)
    }

    mutating func finish(
        _ id: SHA256Digest, _ number: UInt64, _ sealed: SealedResponse, expires: Int64,
        fingerprint: IdempotencyFingerprint?
    ) {
        guard let entry = entries[id], entry.number == number, entry.response == nil else { return }
        entries[id]?.response = (sealed, expires)
        if let fingerprint { entries[id]?.fingerprint = fingerprint }
        order.append((id, number))
        count += 1
        bytes += sealed.size
    }

    /// Forgets that entry, if it is still there.
    mutating func drop(_ id: SHA256Digest, _ number: UInt64) {
        guard let entry = entries[id], entry.number == number else { return }
        entries[id] = nil
        guard let response = entry.response else { return }
        count -= 1
        bytes -= response.sealed.size
    }

    mutating func dropExpired(now: Int64, atMost limit: Int) {
        for _ in 0..<limit {
            guard let next = order[oldest...].first else { return }
            if let entry = entries[next.id], entry.number == next.number, let response = entry.response {
                guard response.expires <= now else { return }
            }
            dropFirst()
        }
    }

    mutating func dropOldest(entries limit: Int, bytes byteLimit: Int) {
        while count > limit || bytes > byteLimit { dropFirst() }
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
