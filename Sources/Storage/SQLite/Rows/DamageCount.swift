import Sessions
import Synchronization

/// Counts the damage that is found in a database, and reports it.
final class DamageCount: Sendable {
    private let rows = Atomic<Int>(0)
    /// Each page is reported once, however often it is read.
    private let pages = Mutex<Set<UInt32>>([])
    let report: @Sendable (String) -> Void

    init(report: @escaping @Sendable (String) -> Void) { self.report = report }

    var damage: StoreDamage { StoreDamage(rows: rows.load(ordering: .relaxed), pages: pages.withLock(\.count)) }

    /// Notes rows that cannot be read, in a sentence.
    func note(_ sentence: String) {
        rows.wrappingAdd(1, ordering: .relaxed)
        report(sentence)
    }

    func note(_ page: UInt32) {
        // In a file with more damaged pages, further ones say nothing new.
        let isNew = pages.withLock { pages in pages.count < Self.mostPages && pages.insert(page).inserted }
        guard isNew else { return }
        report("Page \(page) of the database does not match its checksum; rows on it may be missing.")
    }

    private static let mostPages = 1_024
}
