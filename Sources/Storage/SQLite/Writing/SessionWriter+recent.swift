import CSQLite
import Sessions

/// Commits that go into the log of recent writes, and what is in it that goes where it belongs.
extension SessionWriter {
    /// Whether a commit only writes services: most do. Whatever else one does is done in the session's own rows.
    func isForLog(_ commit: SessionCommit) -> Bool {
        guard commit.changesServicesOnly, commit.newFlows.isEmpty, !commit.changedServices.isEmpty, !recent.isOff
        else { return false }
        let record = commit.record
        // A row has one revision, which is the session's as well as the service's.
        return commit.changedServices.allSatisfy { record.document(of: $0)?.revision == record.revision }
    }

    /// Nil when it is done: all of its services are in the log.
    func append(_ commit: SessionCommit) throws(SQLiteError) -> StoreError? {
        let record = commit.record
        guard var session = try known(record.id) else {
            #if PLANTED_BUGS
                if PlantedBug.revivedSession.isActive {
                    return try create(StoredSession(record: record, lastUsedAt: record.createdAt)) ? nil : .conflict
                }
            #endif
            return .gone
        }
        var isCurrent = session.revision == Int64(clamping: commit.replacedRevision)
        #if PLANTED_BUGS
            isCurrent = isCurrent || PlantedBug.noConflictCheck.isActive
        #endif
        guard isCurrent else { return .conflict }
        for service in commit.changedServices {
            guard let document = record.document(of: service) else { continue }
            #if PLANTED_BUGS
                let isLast = service == commit.changedServices.last && commit.changedServices.count > 1
                if PlantedBug.halfTransaction.isActive, isLast { continue }
                if PlantedBug.lostService.isActive, record.revision.isMultiple(of: 32) { continue }
            #endif
            let row = ServiceRow(planted(document), named: names[service], of: record.id)
            try recent.append(row, service: service, to: &session)
        }
        session.advance(to: Int64(clamping: record.revision))
        recent.set(session)
        return nil
    }

    /// What the log has of a session, and which revision it is at; nil when there is no such session.
    private func known(_ id: SessionID) throws(SQLiteError) -> RecentSession? {
        let found = recent.session(id)
        if let found, found.isSure { return found }
        guard let stored = try storedRevision(of: id) else { return nil }
        if var found, found.revision > stored {
            found.isSure = true
            return found
        }
        var session = RecentSession(id, isSure: true)
        session.advance(to: stored)
        return session
    }

    /// Before anything of a session is read, or changed in its own rows: what the log has of it is brought there.
    func settle(_ id: SessionID) throws(SQLiteError) {
        if let session = recent.session(id) { try fold(session) }
    }

    /// At the end of each transaction: a few sessions whose turn has come.
    func foldDue() throws(SQLiteError) {
        while let session = recent.nextDue() { try foldForOthers(session) }
        try recent.emptyFormer()
    }

    /// So many of all. When these are all there are, the log is empty.
    func foldAll(atMost limit: Int = .max) throws(SQLiteError) {
        var folded = 0
        while folded < limit, let session = try recent.next() {
            try foldForOthers(session)
            folded += 1
        }
    }

    /// A damaged page in its way is none of the others' trouble.
    private func foldForOthers(_ session: RecentSession) throws(SQLiteError) {
        recent.place = .folding(session.id.key)
        try fold(session)
        recent.place = .elsewhere
    }

    /// - Parameter gap: goes onto the revision, since one that was given may be in a row that cannot be read.
    private func fold(_ session: RecentSession, gap: Int64 = 0) throws(SQLiteError) {
        defer { recent.forget(key: session.id.key) }
        guard var row = try storedRow(of: session.id), row.revision < session.revision || gap > 0 else { return }
        for place in session.rows {
            guard case .row(let service) = try recent.rows.read(place, of: session.id),
                service.revision > row.revision
            else { continue }
            try write(service)
        }
        let former = row.revision
        row.revision = max(row.revision, session.revision) + gap
        try bind(row.id, to: updateRevision)
        try updateRevision.bind(4, row.revision)
        try updateRevision.bind(12, row.checksum)
        try updateRevision.bind(13, former)
        try updateRevision.run()
    }

    /// Nil as well when it is damaged: it then is as if it were not there, with all that is written to it.
    private func storedRow(of id: SessionID) throws(SQLiteError) -> SessionRow? {
        try bind(id, to: selectSession)
        defer { selectSession.reset() }
        return try selectSession.step() ? SessionRow(selectSession) : nil
    }

    // MARK: Opening

    /// Takes up what the file has in its log. As it is: to fold it would take a look at pages all over the file.
    func replay(report: (String) -> Void) throws(SQLiteError) {
        let found = try RecentReplay(connection, names, report: report)
        recent.take(found)
        guard found.isDamaged else { return }
        while true {
            do throws(SQLiteError) {
                try connection.execute("BEGIN IMMEDIATE")
                try mend(found.damaged)
                try connection.execute("COMMIT")
                return recent.publish()
            } catch {
                if connection.isInTransaction { try? connection.execute("ROLLBACK") }
                recent.discard()
                guard error.primaryCode == SQLITE_CORRUPT, recent.goAround() else { throw error }
            }
        }
    }

    /// After damage to the log: which revisions its sessions had come to may not be known any more, and what was given once
    /// must not be given again for something else. So those get one that is far beyond whatever they had.
    private func mend(_ damaged: Set<Int64>) throws(SQLiteError) {
        for key in damaged.sorted() where !recent.isStuck(key: key) {
            recent.place = .folding(key)
            guard let id = try storedID(key: key) else { continue }
            try fold(recent.session(id) ?? RecentSession(id, isSure: false), gap: Self.gap)
        }
        try foldAll()
    }

    /// More than a session is ever written to between two foldings.
    private static let gap: Int64 = 1 << 32

    private func storedID(key: Int64) throws(SQLiteError) -> SessionID? {
        let statement = try connection.prepare("SELECT id FROM sessions WHERE key = \(key)")
        guard try statement.step() else { return nil }
        let id = SessionID(bytes: statement.bytes(0))
        return id?.key == key ? id : nil
    }

    private func planted(_ document: ServiceDocument) -> ServiceDocument {
        #if PLANTED_BUGS
            if PlantedBug.staleServiceRevision.isActive {
                return ServiceDocument(
                    service: document.service, birth: document.birth, revision: document.revision - 1,
                    createdAt: document.createdAt, updatedAt: document.updatedAt, bytes: document.bytes)
            }
        #endif
        return document
    }
}
