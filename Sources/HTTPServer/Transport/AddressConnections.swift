import Synchronization

/// Counts the connections of each address, and refuses those beyond a limit, and new ones beyond a quota.
///
/// Connections open and close rarely compared to requests, so one lock is enough. The table has an entry for each
/// address with a connection, so it is never larger than the limit of connections.
final class AddressConnections: Sendable {
    private let limit: Int
    private let exempt: [AddressRange]
    private let open = Mutex<[UInt64: Int]>([:])
    private let buckets: TokenBuckets?
    let refusals = Atomic<UInt64>(0)
    let throttled = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - quota: of new connections, each of which costs a TLS handshake; `nil` for any number.
    ///   - exempt: addresses that may have any number of both.
    init(limit: Int, quota: Quota?, exempt: [AddressRange]) {
        self.limit = limit
        buckets = quota.map { TokenBuckets($0) }
        self.exempt = exempt
    }

    /// Whether the address may have one more.
    ///
    /// - Parameter now: nanoseconds of a monotonic clock.
    func admits(_ address: PeerAddress, now: UInt64) -> Bool {
        guard isCounted(address) else { return true }
        if let buckets, !buckets.take(address.network, now: now).isTaken {
            throttled.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        guard open.withLock({ $0[address.network] ?? 0 }) < limit else {
            refusals.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        return true
    }

    func began(_ address: PeerAddress) {
        guard isCounted(address) else { return }
        open.withLock { $0[address.network, default: 0] += 1 }
    }

    func ended(_ address: PeerAddress) {
        guard isCounted(address) else { return }
        open.withLock { open in
            let left = (open[address.network] ?? 0) - 1
            open[address.network] = left > 0 ? left : nil
        }
    }

    private func isCounted(_ address: PeerAddress) -> Bool { !exempt.contains { $0.contains(address) } }
}
