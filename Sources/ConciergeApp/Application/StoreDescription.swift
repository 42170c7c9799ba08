import JSONDocument

/// What operators are told of the store, in the log and in the statistics: what it is, and what an answer to a write is
/// worth.
struct StoreDescription: Sendable {
    let kind: String
    /// The policy in force: sessions in memory end with the process, whatever is configured.
    let durability: Configuration.Durability
    /// Nil where the policy has none.
    let syncInterval: Duration?

    init(_ configuration: Configuration) {
        kind = configuration.store.kind
        durability = configuration.store == .memory ? .none : configuration.durability
        syncInterval = durability == .interval ? configuration.syncInterval : nil
    }

    /// The members of an object that tell of the policy.
    func writePolicy(to json: inout JSONWriter) {
        json.name("durability")
        json.string(durability.rawValue)
        guard let syncInterval else { return }
        json.name("sync_interval_ms")
        json.int(Int(syncInterval.milliseconds))
    }
}
