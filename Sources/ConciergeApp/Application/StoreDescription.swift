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
}
