import Storage
import Testing

@testable import SQLiteStorage
@testable import Sessions

/// A store with everything that can be in one, and what a repair of its file has to bring back.
struct RepairedStore {
    static let services = (0..<12).map { "service-\($0)" }

    let file = try? SQLiteFile()
    private(set) var sessions: [StoredSession] = []
    private(set) var tasks: [StoredTask] = []
    let flows = (0..<40).map {
        UsedFlow(flow: "flow-\($0)", version: 1, states: String(repeating: "state ", count: 50))
    }

    /// Every document of a session repeats the second half of the session's id, so that a page that has any part of a
    /// session has these bytes.
    private static func document(_ service: Int, of id: SessionID, size: Int) -> ServiceDocument {
        let pattern = id.lowBytes
        return ServiceDocument(
            service: UInt16(service), birth: UInt64(service), revision: 2, createdAt: 12, updatedAt: 13,
            bytes: (0..<size).map { pattern[$0 % 8] })
    }

    static func session(_ number: Int) -> StoredSession {
        let id = SessionID(
            high: UInt64(1_700_000_000_000 + number) << 16,
            low: (UInt64(number) &+ 1) &* 0x9E37_79B9_7F4A_7C15 | 0x0101_0101_0101_0101)
        var services = [document(0, of: id, size: 80 + number % 50)]
        switch number % 10 {
        case 1, 5: services.append(document(1, of: id, size: 700 + number * 13 % 3_000))
        case 3: services.append(document(1, of: id, size: 5_000 + number * 100))
        // The row itself overflows.
        case 7: services += (1..<12).map { document($0, of: id, size: 500) }
        default: break
        }
        let details = SessionDetails(
            labels: SessionLabels(["device": "d\(number)"]),
            userID: number.isMultiple(of: 4) ? user(number % 16) : nil)
        return Samples.session(id, revision: UInt64(2 + number % 5), services, details: details)
    }

    private static func user(_ number: Int) -> String { "\(number)-" + String(repeating: "user", count: 60) }

    private static func task(_ number: Int, of session: SessionID) -> StoredTask {
        // Some rows overflow.
        let name = number.isMultiple(of: 9) ? String(repeating: "n", count: 1_500) : "check"
        return StoredTask(
            id: TaskID(session: session, journey: String(repeating: "j", count: 200), number: UInt64(number + 2)),
            name: name, attempts: 3, createdAt: 90, due: Int64(1 << 39 + number))
    }

    /// A file with sessions, of which every twelfth ends.
    ///
    /// - Parameters:
    ///   - body: is called before the file is closed.
    init(
        count: Int, keys: DocumentKeys? = nil, isPlain: Bool = false, durability: Durability = .none,
        _ body: (RepairedStore) throws -> Void = { _ in }
    ) async throws {
        let file = try #require(file)
        if isPlain { try SQLiteConnection(file.path, .write).execute(SQLiteFile.plainTables) }
        let store = try file.store(services: Self.services, durability: durability, keys: keys)
        try await store.replaceUsedFlows(flows)
        for number in 0..<count {
            let session = Self.session(number)
            try await store.create(session)
            if number.isMultiple(of: 3) {
                let task = Self.task(number, of: session.record.id)
                var commit = SessionCommit(
                    record: SessionRecord(
                        id: session.record.id, token: session.record.token, createdAt: 10, expiresAt: 100_000,
                        revision: session.record.revision + 1, services: session.record.services,
                        details: session.record.details), replacedRevision: session.record.revision, changedServices: []
                )
                commit.tasks = [.begun(task)]
                try await store.commit(commit)
                sessions.append(StoredSession(record: commit.record, lastUsedAt: 11))
                tasks.append(task)
            } else {
                sessions.append(session)
            }
        }
        let ended = Set(sessions.enumerated().filter { $0.offset % 12 == 4 }.map(\.element.record.id))
        for id in ended { #expect(try await store.end(id)) }
        sessions.removeAll { ended.contains($0.record.id) }
        tasks.removeAll { ended.contains($0.id.session) }
        try body(self)
        await store.close()
    }

    /// Whether a page has any part of a session.
    static func has(_ page: ArraySlice<UInt8>, _ session: SessionID) -> Bool {
        let pattern = session.lowBytes
        var place = page.startIndex
        while place + 8 <= page.endIndex {
            guard let next = page[place..<page.endIndex - 7].firstIndex(of: pattern[0]) else { return false }
            if page[next..<next + 8].elementsEqual(pattern) { return true }
            place = next + 1
        }
        return false
    }

    /// Repairs an image, and compares the new file with what was there.
    ///
    /// - Parameter damaged: the pages whose content may be missing.
    /// - Returns: the sentences, and whether anything is missing.
    @discardableResult
    func check(
        _ image: SQLiteFile, without damaged: [ArraySlice<UInt8>], keys: DocumentKeys? = nil, _ what: String
    ) async throws -> (told: [String], isWhole: Bool, corrected: Int) {
        let repaired = try SQLiteFile()
        var told: [String] = []
        let repair = try StoreRepair(image.path, to: repaired.path, keys: keys) { told.append($0) }
        #expect(repair.missing == told.count)
        let check = try StoreCheck.run(repaired.path, keys: keys) { finding in
            // A damaged document keeps its entry.
            #expect(
                finding.contains("the document does not match") && told.contains { $0.contains("cannot be read") },
                "\(what): \(finding)")
        }
        #expect(check.sessions == repair.sessions && check.services == repair.services)
        let store = try repaired.store(services: Self.services, keys: keys)
        var found: [SessionID: StoredSession] = [:]
        for session in try await store.page(after: nil, limit: 100_000).sessions { found[session.record.id] = session }
        #expect(store.sessionCount == found.count && repair.sessions == found.count, "\(what)")
        var isWhole = found.count == sessions.count
        for user in (0..<16).map(Self.user) {
            let listed = Set(try await store.sessions(ofUser: user).map(\.record.id))
            #expect(listed == Set(found.values.filter { $0.record.userID == user }.map(\.record.id)), "\(what)")
        }
        for session in sessions {
            let id = session.record.id
            let mayMiss = damaged.contains { Self.has($0, id) }
            guard let kept = found.removeValue(forKey: id) else {
                isWhole = false
                #expect(mayMiss, "\(what): \(id) is missing")
                continue
            }
            #expect(
                kept.record.revision == session.record.revision && kept.record.token == session.record.token, "\(what)")
            #expect(kept.record.userID == session.record.userID, "\(what)")
            #expect(kept.record.details.labels == session.record.details.labels, "\(what)")
            #expect(
                kept.record.expiresAt == session.record.expiresAt && kept.lastUsedAt >= session.lastUsedAt, "\(what)")
            #expect(kept.record.highestRevision > 1 << 20, "\(what)")
            let documents = kept.record.services.filter { !$0.bytes.isEmpty }
            if documents.count < session.record.services.count {
                isWhole = false
                #expect(mayMiss, "\(what): a document of \(id) is missing")
                #expect(told.contains { $0.contains("\(id), service") }, "\(what): \(told)")
            }
            #expect(
                documents.allSatisfy { $0.bytes == session.record.document(of: $0.service)?.bytes && $0.revision == 2 },
                "\(what)")
        }
        #expect(found.isEmpty, "\(what): \(found.keys) should not be there")
        let kept = try await store.tasks(TaskQuery(now: 100, limit: 100_000))
        #expect(kept.allSatisfy(tasks.contains), "\(what)")
        if kept.count < tasks.count { isWhole = false }
        if let known = try await store.usedFlows() {
            #expect(Set(known) == Set(flows), "\(what)")
        } else {
            isWhole = false
        }
        await store.close()
        return (told, isWhole, repair.correctedPages)
    }
}

extension SQLiteFile {
    /// A file without sessions that a repair has made, with the numbers of a new one.
    static func repaired() async throws -> SQLiteFile {
        let (damaged, file) = (try SQLiteFile(), try SQLiteFile())
        await (try damaged.store()).close()
        _ = try StoreRepair(damaged.path, to: file.path) { _ in }
        try SQLiteConnection(file.path, .write).execute("UPDATE facts SET value = 0 WHERE name = 'restored'")
        return file
    }
}
