/// A disk that has only what was synced to it, as strace(1) has recorded the calls of a program on its database. A
/// failed sync loses its writes even if a later sync succeeds: the kernel has dropped them.
struct DiskModel: Sendable {
    /// The harm that a power cut could have done to the database, each in a sentence.
    private(set) var violations: [String] = []
    /// How often a log with content restarted or was removed.
    private(set) var beginnings = 0
    /// The syncs of the writer's thread, in order.
    private(set) var syncs: [Sync] = []
    /// How many syncs succeeded since the last failed one; nil when none failed.
    private(set) var syncsSinceFailure: Int?
    /// The same at the second response after the failure: the first may have been on its way.
    private(set) var syncsBeforeAnswer: Int?

    struct Sync: Sendable {
        let isOfDatabase: Bool
        let hasFailed: Bool
    }

    private struct File {
        /// Offsets of pages.
        var unsynced: Set<Int> = []
        var lost: Set<Int> = []
    }

    private var database = File()
    private var log = File()
    private var answers = 0

    /// - Parameter lines: the lines of strace, with the paths of files.
    init(_ lines: [Substring]) {
        let writer = lines.last { $0.contains(" fdatasync(") }.map(Self.thread)
        // By thread: strace shows a call in two lines when another thread's call interrupts it.
        var open: [Substring: (call: Substring, path: Substring)] = [:]
        for line in lines {
            let thread = Self.thread(line)
            let call: Substring
            let path: Substring
            if line.contains(" resumed>"), let begun = open.removeValue(forKey: thread) {
                (call, path) = begun
            } else {
                let words = line.split(separator: " ", maxSplits: 2)
                guard words.count == 3 else { continue }
                call = words[2]
                path = Self.path(call)
                if line.hasSuffix("<unfinished ...>") {
                    open[thread] = (call, path)
                    continue
                }
            }
            if call.contains("\"HTTP/1.1 20") { noteAnswer() }
            let hasFailed = line.contains("= -1 ")
            if thread == writer, call.hasPrefix("fdatasync(") {
                syncs.append(Sync(isOfDatabase: path.hasSuffix("/sessions.db"), hasFailed: hasFailed))
            }
            guard path.hasSuffix("/sessions.db") || path.hasSuffix("/sessions.db-wal") else { continue }
            note(call, isLog: path.hasSuffix("-wal"), hasFailed: hasFailed)
        }
    }

    private static func thread(_ line: Substring) -> Substring { line.prefix { $0 != " " } }

    /// The path of the descriptor, or the path argument.
    private static func path(_ call: Substring) -> Substring {
        let marks: (Character, Character) = call.hasPrefix("unlink(") ? ("\"", "\"") : ("<", ">")
        guard let start = call.firstIndex(of: marks.0) else { return "" }
        return call[call.index(after: start)...].prefix { $0 != marks.1 }
    }

    private mutating func note(_ call: Substring, isLog: Bool, hasFailed: Bool) {
        if call.hasPrefix("fdatasync(") {
            syncsSinceFailure = hasFailed ? 0 : syncsSinceFailure.map { $0 + 1 }
            if hasFailed { answers = 0 }
            if isLog { Self.sync(&log, hasFailed) } else { Self.sync(&database, hasFailed) }
        } else if call.hasPrefix("pwrite64("), SyncOrderTests.isMark(call) {
            return
        } else if call.hasPrefix("pwrite64("), !hasFailed {
            guard let place = Self.lastNumber(call) else { return }
            if isLog, place == 0 { noteBeginning() }
            if !isLog, !log.unsynced.isEmpty { violations.append("a page is copied before the log was synced") }
            if isLog { Self.write(&log, place) } else { Self.write(&database, place) }
        } else if isLog, call.hasPrefix("ftruncate(") || call.hasPrefix("unlink(") {
            noteBeginning()
        }
    }

    private static func sync(_ file: inout File, _ hasFailed: Bool) {
        if hasFailed { file.lost.formUnion(file.unsynced) }
        file.unsynced = []
    }

    private static func write(_ file: inout File, _ place: Int) {
        file.unsynced.insert(place)
        file.lost.remove(place)
    }

    /// The log restarts: its content is only in the database now.
    private mutating func noteBeginning() {
        if !database.unsynced.isEmpty || !database.lost.isEmpty {
            violations.append(
                "the log restarts: of the database \(database.unsynced.count) pages are not synced, "
                    + "\(database.lost.count) are lost")
        }
        if !log.unsynced.isEmpty || !log.lost.isEmpty || !syncs.isEmpty { beginnings += 1 }
        log = File()
    }

    private mutating func noteAnswer() {
        guard let syncsSinceFailure else { return }
        answers += 1
        if answers == 2 { syncsBeforeAnswer = syncsSinceFailure }
    }

    /// The offset: 8192 in `pwrite64(9</path>, "…", 4096, 8192) = 4096`.
    private static func lastNumber(_ call: Substring) -> Int? {
        let text = call.hasSuffix("<unfinished ...>") ? call.dropLast(" <unfinished ...>".count) : call
        let arguments = text.lastIndex(of: ")").map { text[..<$0] } ?? text
        return arguments.split(separator: ",").last.flatMap { Int($0.filter { $0 != " " }) }
    }
}
