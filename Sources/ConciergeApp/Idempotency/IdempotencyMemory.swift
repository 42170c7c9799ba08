import Sessions

/// The table of an ``IdempotencyStore``, with the order in which its responses expire.
struct IdempotencyMemory: Sendable {
    struct Entry: Sendable {
        /// Distinguishes the entry from earlier and later ones with the same id.
        let number: UInt64
        var fingerprint: IdempotencyFingerprint
        /// `nil` while the request is in progress: it then neither expires nor is dropped to make room.
        var response: (sealed: SealedResponse, expires: Int64)?
        /// The mark of the note that the processes share about it; `nil` when there is none.
        var mark: [UInt8]?
    }

    enum Found {
        /// The id was free. Now it belongs to the caller, under this number.
        case mine(UInt64)
        case answered(SealedResponse, UInt64)
        case mismatch
        case inProgress
    }

    /// Tests read the entries and damage them.
    var entries: [SHA256Digest: Entry] = [:]
    /// The order of the responses, which is also the order in which they expire, since all are kept equally long. An
    /// entry that was dropped early stays here until its turn.
    private var order: [(id: SHA256Digest, number: UInt64)] = []
    /// Where `order` begins; the part before it is removed now and then.
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
        fingerprint: IdempotencyFingerprint?, mark: [UInt8]?
    ) {
        guard let entry = entries[id], entry.number == number, entry.response == nil else { return }
        entries[id]?.response = (sealed, expires)
        entries[id]?.mark = mark
        if let fingerprint { entries[id]?.fingerprint = fingerprint }
        order.append((id, number))
        count += 1
        bytes += sealed.size
    }

    /// Drops the entry, if it still exists.
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

    /// - Returns: the notes about what was dropped.
    mutating func dropOldest(entries limit: Int, bytes byteLimit: Int) -> [(id: SHA256Digest, mark: [UInt8])] {
        var notes: [(id: SHA256Digest, mark: [UInt8])] = []
        while count > limit || bytes > byteLimit {
            let (id, number) = order[oldest]
            if let entry = entries[id], entry.number == number, let mark = entry.mark { notes.append((id, mark)) }
            dropFirst()
        }
        return notes
    }

    private mutating func dropFirst() {
        let (id, number) = order[oldest]
        drop(id, number)
        oldest += 1
        // At most half of the memory is wasted, and each element is moved once on average.
        guard oldest >= 1_024, oldest * 2 >= order.count else { return }
        order.removeFirst(oldest)
        oldest = 0
    }
}
