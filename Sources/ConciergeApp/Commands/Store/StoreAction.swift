/// What `concierge store` does to the file that sessions live in.
package enum StoreAction: String, Sendable, CaseIterable {
    case check, stats, backup, vacuum

    var summary: String {
        switch self {
        case .check: "look at everything in it; status 1 when something is wrong"
        case .stats: "what is in it, in numbers; everything is read for that"
        case .backup: "copy it, as it is at one moment, to FILE"
        case .vacuum: "give the pages that nothing is in any more back to the file system"
        }
    }

    /// The switches that mean something to it.
    var switches: [String] {
        switch self {
        case .stats: ["--json"]
        case .backup: ["--force"]
        case .check, .vacuum: []
        }
    }
}
