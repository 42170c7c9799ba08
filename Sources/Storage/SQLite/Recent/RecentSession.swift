import Sessions

/// What of one session is in the log of recent writes and not in its own rows: for each service that was written, the
/// newest of its rows.
struct RecentSession {
    /// A row of the log.
    struct Row {
        let sequence: Int64
        /// The place of the service in the catalogue, or a number that stands for one that is not declared any more.
        let service: UInt16
        let table: RecentTable
    }

    let id: SessionID
    /// That of the newest row.
    private(set) var revision: Int64
    /// Whether it is known that the session's own row is older. It is not of what was found in the file at its opening.
    var isSure: Bool
    /// Most sessions write one service for a while: so most need no array.
    private var first: Row?
    private var others: [Row] = []

    init(_ id: SessionID, isSure: Bool) {
        self.id = id
        revision = 0
        self.isSure = isSure
    }

    /// Rows may come in any order: a higher number is a newer row.
    mutating func add(_ row: Row, revision: Int64) {
        self.revision = max(self.revision, revision)
        if first == nil || first?.service == row.service {
            if (first?.sequence ?? 0) < row.sequence { first = row }
        } else if let place = others.firstIndex(where: { $0.service == row.service }) {
            if others[place].sequence < row.sequence { others[place] = row }
        } else {
            others.append(row)
        }
    }

    /// A commit of which no row is in the log, which only planted bugs make.
    mutating func advance(to revision: Int64) { self.revision = revision }

    var rows: [Row] { (first.map { [$0] } ?? []) + others }

    func isIn(_ table: RecentTable) -> Bool { first?.table == table || others.contains { $0.table == table } }
}
