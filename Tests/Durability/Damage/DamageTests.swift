import Glibc
import Sessions
import Support
import Synchronization
import Testing

/// Files that are cut or have a flipped bit. The store opens them, or says in a sentence why not; whatever it shows is
/// right.
@Suite("Damaged files")
struct DamageTests {
    private static let tail = 64 << 10

    enum Harm: String, CaseIterable, Sendable { case cut, flip }

    // MARK: The log

    /// The result of opening a database with a damaged log.
    private struct Found {
        var sessions: [StoredSession] = []
        var isToldOf = false
        var isCopied = false
    }

    @Test(
        "a log that is cut or has a flipped bit yields a prefix of the commits; losses are reported; no revision recurs",
        arguments: Harm.allCases)
    func log(_ harm: Harm) async throws {
        let files = try await StoredFiles.make(sessions: 12, commits: 60, inLog: 40)
        let size = files.log.count
        #expect(size > Self.tail)
        // All of the header, too.
        let first = Array(0..<56) + Array(stride(from: 57, to: size, by: max(1, size / 64)))
        var places = Places(in: 0..<size, first: first)
        while let place = places.next() {
            let context: Comment = "\(harm) at \(place) of \(size), seed \(files.seed)"
            let found = try await Self.read(files.damaged(inLog: place, harm))
            let last = found.sessions.map { files.number(of: $0) ?? 0 }.max() ?? 0
            let expected = files.states(after: last)
            #expect(last >= files.inDatabase && found.sessions.count == expected.count, context)
            for session in found.sessions {
                let commit = expected[session.record.id]
                #expect(commit.map { files.isWhole(session, after: $0) } == true, context)
            }
            // To cut at the first byte removes the log.
            #expect(found.isToldOf && found.isCopied == (place > 0 || harm == .flip), context)
            #expect(last < files.commits.count, context)
            let given = files.states(after: files.commits.count)
            for session in found.sessions {
                let highest = given[session.record.id]?.revision ?? .max
                #expect(session.record.highestRevision >= highest, context)
            }
        }
        places.report("log, \(harm)")
    }

    @Test("the same when a part of the log was copied before: each session is as some commit left it")
    func copiedLog() async throws {
        let files = try await StoredFiles.make(sessions: 24, commits: 240, inLog: 216)
        let given = files.states(after: files.commits.count)
        let size = files.log.count
        var places = Places(in: 0..<size, first: Array(stride(from: 40, to: size, by: size / 24)))
        while let place = places.next() {
            let context: Comment = "flip at \(place) of \(size), seed \(files.seed)"
            let found = try await Self.read(files.damaged(inLog: place, .flip))
            for session in found.sessions {
                let commit = files.number(of: session).map { files.commits[$0 - 1] }
                #expect(commit.map { files.isRight(session, after: $0) } == true, context)
                #expect(session.record.highestRevision >= given[session.record.id]?.revision ?? .max, context)
            }
            let isComplete = given.allSatisfy { id, commit in
                found.sessions.contains { $0.record.id == id && files.isWhole($0, after: commit) }
            }
            #expect(!isComplete && found.isToldOf, context)
        }
        places.report("log, half of it copied")
    }

    private static func read(_ files: StoredFiles) async throws -> Found {
        try await files.withStored { path, folder in
            let reports = Reports()
            let store = try StoredFiles.open(path, report: reports.add)
            var found = Found()
            found.sessions = try await store.page(after: nil, limit: 1_000).sessions
            found.isToldOf = reports.all.contains { $0.hasPrefix("The log of the database ") }
            let copies = try FileBytes.names(in: folder).filter { $0.hasPrefix("sessions.db-wal.damaged-") }
            found.isCopied = !copies.isEmpty
            for copy in copies { #expect(try FileBytes.read("\(folder)/\(copy)") == files.log) }
            await store.close()
            return found
        }
    }

    // MARK: The database

    @Test("a database that is cut shows nothing wrong, and reports missing sessions")
    func cut() async throws {
        let files = try await StoredFiles.make(sessions: 60, commits: 120, inLog: 0)
        let size = files.database.count
        var harmful = 0
        let first = Array(stride(from: max(0, size - Self.tail), to: size, by: 2_039))
        var places = Places(in: max(0, size - Self.tail)..<size, first: first)
        while let place = places.next() {
            var damaged = DamagedDatabase(files.damaged(inDatabase: place, .cut), "cut at \(place), seed \(files.seed)")
            try await damaged.check()
            if damaged.isToldOf { harmful += 1 }
        }
        // Otherwise most places were in unused parts of the file.
        #expect(harmful * 2 > places.count, "seed \(files.seed)")
        places.report("database, cut")
    }

    @Test(
        "with a flipped bit in a page of any kind, sessions are right or reported, others can be written, and calls return",
        arguments: [true, false])
    func flip(isReadFirst: Bool) async throws {
        let files = try await StoredFiles.make(sessions: 72, commits: 120, inLog: 0, ended: 12)
        #expect(Set(files.pages) == PageKind.expected, "seed \(files.seed)")
        var harmful = 0
        var places = Places(in: 0..<files.database.count, first: files.placesOfAllKinds)
        while let place = places.next() {
            let page = place / PageKind.size
            var damaged = DamagedDatabase(
                files.damaged(inDatabase: place, .flip),
                "flip at \(place % PageKind.size) of page \(page + 1), \(files.pages[page]), seed \(files.seed)",
                isReadFirst: isReadFirst)
            try await damaged.check()
            if damaged.isToldOf { harmful += 1 }
        }
        #expect(harmful * 4 > places.count, "seed \(files.seed)")
        places.report("database, flip")
    }
}

extension StoredFiles {
    fileprivate func damaged(inLog place: Int, _ harm: DamageTests.Harm) -> StoredFiles {
        var files = self
        Self.damage(&files.log, at: place, harm)
        return files
    }

    fileprivate func damaged(inDatabase place: Int, _ harm: DamageTests.Harm) -> StoredFiles {
        var files = self
        Self.damage(&files.database, at: place, harm)
        return files
    }

    private static func damage(_ bytes: inout [UInt8], at place: Int, _ harm: DamageTests.Harm) {
        switch harm {
        case .cut: bytes.removeSubrange(place...)
        case .flip: bytes[place] ^= 1 << (place % 8)
        }
    }

    /// In one page of each kind: the byte of the kind, and some of the number of cells, the right-most child, the
    /// places of cells, the middle, the last cells and the checksum. In every page with sessions: the byte of the kind.
    fileprivate var placesOfAllKinds: [Int] {
        let leaves = pages.indices.filter { pages[$0] == .tree("sessions", "leaf") }.map { $0 * PageKind.size }
        return leaves
            + PageKind.expected.flatMap { kind -> [Int] in
                guard let page = pages.indices.filter({ pages[$0] == kind }).randomElement() else { return [] }
                let some = [4, 11, 13, 700 + page * 37 % 512, 3_000, 4_070, 4_093].shuffled().prefix(3)
                // Page 1 begins with the file's header.
                return ([0] + some).map { page * PageKind.size + $0 + (page == 0 && $0 < 100 ? 100 : 0) }
            }
    }
}

/// The reports of a store.
final class Reports: Sendable {
    private let sentences = Mutex<[String]>([])

    var all: [String] { sentences.withLock { $0 } }

    @Sendable func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
}

/// Places in a file to be damaged: first far apart, in the end all of them, as far as time allows.
///
/// They come in rounds, each with places between those of earlier rounds. `make test` has one round; the long form
/// continues for a part of its time, or until no place is left.
struct Places {
    private let first: [Int]
    private let range: Range<Int>
    private let end: ContinuousClock.Instant
    private(set) var count = 0

    static let isLong = seconds != nil
    private static let seconds = getenv("TORTURE_SECONDS").flatMap { Int(String(cString: $0)) }
    /// The distance between two places of a round. A prime, so a round meets all places within a page, and all bits.
    private static let distance = 1_021

    /// - Parameter first: a first round that differs from the others.
    init(in range: Range<Int>, first: [Int]? = nil) {
        self.range = range
        self.first = first ?? Array(stride(from: range.lowerBound, to: range.upperBound, by: Self.distance))
        // There are five tests of damage.
        end = .now + .seconds(Self.seconds ?? 0) / 5
    }

    mutating func next() -> Int? {
        let further = count - first.count
        guard further < 0 || (Self.isLong && further < range.count && ContinuousClock.now < end) else { return nil }
        count += 1
        guard further >= 0 else { return first[count - 1] }
        let perRound = (range.count + Self.distance - 1) / Self.distance
        // Neighbouring places come in distant rounds.
        let offset = (further / perRound * 377 + 1) % Self.distance + further % perRound * Self.distance
        return range.lowerBound + min(offset, range.count - 1)
    }

    func report(_ what: String) {
        if Self.isLong { print("damage: \(what): \(count) places of \(range.count)") }
    }
}
