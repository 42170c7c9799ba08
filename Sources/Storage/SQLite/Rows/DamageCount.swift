import Sessions
import Synchronization

/// Counts what of a database is damaged, and tells of it.
final class DamageCount: Sendable {
    private let rows = Atomic<Int>(0)
    /// Each page is told of once, however often it is read.
    private let pages = Mutex<Set<UInt32>>([])
    let report: @Sendable (String) -> Void

    init(report: @escaping @Sendable (String) -> Void) { self.report = report }

    var damage: StoreDamage { StoreDamage(rows: rows.load(ordering: .relaxed), pages: pages.withLock(\.count)) }

    /// Rows that could not be read, in a sentence.
    func note(_ sentence: String) {
        rows.wrappingAdd(1, ordering: .relaxed)
        report(sentence)
    }

    func note(_ page: UInt32) {
        // A file with more of them has one trouble and not many.
        let isNew = pages.withLock { pages in pages.count < Self.mostPages && pages.insert(page).inserted }
        guard isNew else { return }
        report("Page \(page) of the database does not fit its checksum; what was on it may be missing.")
    }

    private static let mostPages = 1_024
}
