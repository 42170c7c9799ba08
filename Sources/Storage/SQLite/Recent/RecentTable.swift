/// One of the two tables of the log of recent writes, which take turns: while one gathers, what is in the other is brought
/// to where it belongs, and that one is then emptied at once, which costs next to nothing for a row.
enum RecentTable: UInt8, CaseIterable {
    case even
    case odd

    var name: String { self == .even ? "recent_even" : "recent_odd" }
    var other: RecentTable { self == .even ? .odd : .even }
    var place: Int { Int(rawValue) }

    /// Those of a service's row, and whose they are.
    static let columns = "\(ServiceRow.columns), session, id, seq"
}
