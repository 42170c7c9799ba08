import Sessions

/// The table of an ``IdempotencyStore``, with the order in which its responses expire.
///
/// Each client's network has one of 256 shares. The one with the most entries, or bytes, makes room, so nobody pushes
/// out what others may still ask for.
struct IdempotencyMemory: Sendable {
    struct Entry: Sendable {
        /// Distinguishes the entry from earlier and later ones with the same id.
        let number: UInt64
        let share: Int
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
    private var shares = [Share](repeating: Share(), count: shareCount)
    static let shareCount = 256
    private var nextNumber: UInt64 = 0
    private(set) var count = 0
    private(set) var bytes = 0

    /// The responses of some networks.
    private struct Share {
        /// Their order, which is also the order in which they expire, since all are kept equally long. An entry that
        /// was dropped early stays here until its turn.
        var order: [(id: SHA256Digest, number: UInt64)] = []
        /// Where `order` begins; the part before it is removed now and then.
        var oldest = 0
        var count = 0
        var bytes = 0
    }

    mutating func begin(
        _ id: SHA256Digest, _ fingerprint: IdempotencyFingerprint, of network: UInt64, now: Int64
    ) -> Found {
        var hasher = Hasher()
        hasher.combine(network)
        let share = hasher.finalize() & (shares.count - 1)
        dropExpired(now: now, of: share, atMost: Self.expiredAtOnce)
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
        entries[id] = Entry(number: nextNumber, share: share, fingerprint: fingerprint)
        return .mine(nextNumber)
    }

    /// A request adds at most one response, so dropping a few keeps up, and no request pays for many.
    private static let expiredAtOnce = 16

    mutating func finish(
        _ id: SHA256Digest, _ number: UInt64, _ sealed: SealedResponse, expires: Int64,
        fingerprint: IdempotencyFingerprint?, mark: [UInt8]?
    ) {
        guard let entry = entries[id], entry.number == number, entry.response == nil else { return }
        entries[id]?.response = (sealed, expires)
        entries[id]?.mark = mark
        if let fingerprint { entries[id]?.fingerprint = fingerprint }
        shares[entry.share].order.append((id, number))
        shares[entry.share].count += 1
        shares[entry.share].bytes += sealed.size
        bytes += sealed.size
        count += 1
    }

    /// Drops the entry, if it still exists.
    mutating func drop(_ id: SHA256Digest, _ number: UInt64) {
        guard let entry = entries[id], entry.number == number else { return }
        entries[id] = nil
        guard let response = entry.response else { return }
        count -= 1
        shares[entry.share].count -= 1
        shares[entry.share].bytes -= response.sealed.size
        bytes -= response.sealed.size
    }

    mutating func dropExpired(now: Int64, of share: Int, atMost limit: Int) {
        for _ in 0..<limit {
            guard let next = shares[share].order[shares[share].oldest...].first else { return }
            if let entry = entries[next.id], entry.number == next.number, let response = entry.response {
                guard response.expires <= now else { return }
            }
            dropFirst(of: share)
        }
    }

    /// Drops the oldest ones of the share that has the most entries, or bytes, whichever are too many.
    ///
    /// - Returns: the notes about what was dropped.
    mutating func dropOldest(entries limit: Int, bytes byteLimit: Int) -> [(id: SHA256Digest, mark: [UInt8])] {
        var notes: [(id: SHA256Digest, mark: [UInt8])] = []
        while count > limit || bytes > byteLimit {
            let part = count > limit ? \Share.count : \Share.bytes
            guard let share = shares.indices.max(by: { shares[$0][keyPath: part] < shares[$1][keyPath: part] })
            else { break }
            let (id, number) = shares[share].order[shares[share].oldest]
            if let entry = entries[id], entry.number == number, let mark = entry.mark { notes.append((id, mark)) }
            dropFirst(of: share)
        }
        return notes
    }

    private mutating func dropFirst(of share: Int) {
        let (id, number) = shares[share].order[shares[share].oldest]
        drop(id, number)
        shares[share].oldest += 1
        let oldest = shares[share].oldest
        // At most half of the memory is wasted, and each element is moved once on average.
        guard oldest >= 64, oldest * 2 >= shares[share].order.count else { return }
        shares[share].order.removeFirst(oldest)
        shares[share].oldest = 0
    }
}
