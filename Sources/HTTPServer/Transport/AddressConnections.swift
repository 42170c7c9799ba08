import Synchronization

/// Counts the connections of each address, and refuses those beyond a limit.
///
/// Connections open and close rarely compared to requests, so one lock is enough. The table has an entry for each
/// address with a connection, so it is never larger than the limit of connections.
final class AddressConnections: Sendable {
    private let limit: Int
    private let exempt: [AddressRange]
    private let open = Mutex<[UInt64: Int]>([:])
    let refusals = Atomic<UInt64>(0)

    /// - Parameter exempt: addresses that may have any number.
    init(limit: Int, exempt: [AddressRange]) {
        self.limit = limit
        self.exempt = exempt
    }

    /// Whether the address may have one more.
    func admits(_ address: PeerAddress) -> Bool {
        guard isCounted(address) else { return true }
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
