import Sessions
import Synchronization

/// Which sessions have rows in the log of recent writes, and which rows. Only what was committed is in it.
///
/// The writer changes it when its transaction was committed, and before anybody is told of that. Readers look into it
/// *before* their snapshot begins: so whatever was acknowledged before somebody asked is either in the log's rows that
/// the index names, or in the session's own, or in newer ones of the log. In the snapshot
/// - a row that is named is there, and is newer than the session's own row: it is laid over what the tables say. What
///   else the index had named until then came in the same entry, since an entry is replaced as a whole;
/// - or it is there and is not newer: the session was folded after the look, with all of its rows in one transaction;
/// - or it is not there: its table was emptied after the look. Before that, in the same transaction or an earlier one,
///   the session was folded, which its own row then shows, or ended, or a later commit has a row for the same service in
///   the other table. Only of that last one the reader knows nothing yet: it finds a session that is behind the revision
///   that the index named, and looks again. That takes an emptying of a table between the look and the snapshot.
///
/// Numbers of rows never come back as long as the index lives, and a row names its session: none is taken for another.
final class RecentIndex: Sendable {
    private struct State {
        var sessions: [Int64: RecentSession] = [:]
        var departures = 0
    }

    let limits: RecentLimits
    private let state = Mutex(State())
    /// The number of the last row that was ever begun, whether it was committed or not.
    private let lastSequence = Atomic<Int64>(0)

    init(_ limits: RecentLimits = RecentLimits()) { self.limits = limits }

    func session(_ id: SessionID) -> RecentSession? {
        state.withLock { state in state.sessions[id.key].flatMap { $0.id == id ? $0 : nil } }
    }

    /// Grows whenever a session leaves: who finds it as it was has missed none since.
    var departures: Int { state.withLock(\.departures) }

    // MARK: For the writer

    subscript(key: Int64) -> RecentSession? { state.withLock { $0.sessions[key] } }

    var keys: [Int64] { state.withLock { Array($0.sessions.keys) } }

    /// A change of what is known of one session.
    struct Change {
        /// Nil when nothing of it is in the log any more.
        var session: RecentSession?
    }

    func apply(_ changes: [Int64: Change]) {
        state.withLock { state in
            for (key, change) in changes {
                if let session = change.session {
                    state.sessions[key] = session
                } else if state.sessions.removeValue(forKey: key) != nil {
                    state.departures += 1
                }
            }
        }
    }

    /// What a file that was just opened has.
    func replaceAll(_ sessions: [Int64: RecentSession]) {
        state.withLock { state in
            state.sessions = sessions
            state.departures += 1
        }
    }

    func nextSequence() -> Int64 { lastSequence.wrappingAdd(1, ordering: .relaxed).newValue }

    func skipSequences(to last: Int64) {
        if last > lastSequence.load(ordering: .relaxed) { lastSequence.store(last, ordering: .relaxed) }
    }
}
