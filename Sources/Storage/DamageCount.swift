import Sessions
import Synchronization

/// Counts the damage that is found in a database, and reports it: each place once, however often it is read.
package final class DamageCount: Sendable {
    private let places = Mutex<Set<String>>([])
    private let pages = Mutex<Set<UInt32>>([])
    package let report: @Sendable (String) -> Void

    package init(report: @escaping @Sendable (String) -> Void) { self.report = report }

    package var damage: StoreDamage { StoreDamage(rows: places.withLock(\.count), pages: pages.withLock(\.count)) }

    /// Notes rows that cannot be read, in a sentence.
    ///
    /// - Parameter place: tells them from others; nil when the sentence does.
    package func note(_ sentence: String, at place: String? = nil) {
        let isNew = places.withLock { $0.count < Self.mostPlaces && $0.insert(place ?? sentence).inserted }
        if isNew { report(sentence) }
    }

    package func note(_ page: UInt32) {
        // In a file with more damaged pages, further ones say nothing new.
        let isNew = pages.withLock { pages in pages.count < Self.mostPages && pages.insert(page).inserted }
        guard isNew else { return }
        report("Page \(page) of the database does not match its checksum; rows on it may be missing.")
    }

    private static let mostPages = 1_024
    private static let mostPlaces = 8_192
}
