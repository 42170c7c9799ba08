import Sessions

extension RedisStore {
    package func create(
        _ session: StoredSession, telling notice: StoredTask?, then done: @escaping @Sendable (StoreError?) -> Void
    ) {
        put(session, replacing: nil, flows: [], tasks: notice.map { [$0] } ?? [], then: done)
    }

    package func receive(_ arrival: SessionArrival) async throws(StoreError) {
        var session = arrival.session
        if arrival.replacedRevision == nil {
            // The floor is read after the session is known not to exist: its end has raised it before.
            let key = keys.session(session.record.id)
            guard try await ask(RedisRequest("HEXISTS", .text(key), "r"))[0].number == 0 else { throw .conflict }
            let floor = try await ask(RedisRequest("GET", .text(keys.floor)))[0].text.flatMap(UInt64.init) ?? 0
            session = session.beginning(at: floor)
        }
        try await Self.wait {
            put(session, replacing: arrival.replacedRevision, flows: arrival.newFlows, tasks: arrival.tasks, then: $0)
        }
        // Another server, which has ended a session of its id, may have removed it from the list meanwhile.
        if arrival.replacedRevision == nil { send(listing(session.record.id, insists: true)) }
    }

    private func listing(_ id: SessionID, insists: Bool) -> RedisRequest {
        var request = RedisRequest()
        request.add(["ZADD", .text(keys.sessions(with: id)), "0", .text("\(id)")], insists: insists)
        return request
    }

    func put(
        _ session: StoredSession, replacing revision: UInt64?, flows: [UsedFlow], tasks: [StoredTask],
        replay: Replay? = nil, then done: @escaping @Sendable (StoreError?) -> Void
    ) {
        let record = session.record
        var values = RedisRequest.Arguments([
            .text(String(session.lastUsedAt)), .text(expiry(record) ?? ""), .text(String(record.highestRevision)),
        ])
        for document in record.services { values.add(document, names[document.service], fields(record.id)) }
        values.add(record, fields(record.id))
        values.add(record.times)
        for task in tasks { values.add(task) }
        if let replay { add(replay, record.id, to: &values) }
        let content = RedisCommit.Content(
            record: record, replaced: revision, tasks: tasks, flows: flows, changesTimes: record.times != .none)
        RedisCommit(content, .put, values, in: self, then: done).send()
    }

    package func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void) {
        let record = commit.record
        var values = RedisRequest.Arguments()
        var removed = RedisRequest.Arguments()
        var begun: [StoredTask] = []
        for service in commit.changedServices {
            if let document = record.document(of: service) {
                values.add(document, names[service], fields(record.id))
            } else {
                removed.add(.text("s:\(names[service])"))
            }
        }
        if !commit.changesServicesOnly {
            values.add(record, fields(record.id))
            if record.userID == nil { removed.add("o") }
        }
        if commit.changesTimes {
            values.add(record.times)
            if record.times.dueAt == .max { removed.add("d") }
            if record.times.keptUntil == .min { removed.add("w") }
        }
        for change in commit.tasks {
            switch change {
            case .begun(let task):
                begun.append(task)
                values.add(task)
            case .ended(let id): removed.add(.text(RedisFields.field(id)))
            }
        }
        if let change = commit.replays {
            for entry in change.removed { removed.add(.text(RedisFields.field(entry))) }
            add(change.added, record.id, to: &values)
        }
        let usedAt = commit.usedAt == .min ? "" : String(commit.usedAt)
        let content = RedisCommit.Content(
            record: record, replaced: commit.replacedRevision, tasks: begun, flows: commit.newFlows,
            changesServicesOnly: commit.changesServicesOnly, changesTimes: commit.changesTimes)
        var arguments = RedisRequest.Arguments([.text(usedAt), .text(String(removed.count))])
        arguments.add(removed)
        arguments.add(values)
        RedisCommit(content, .commit, arguments, in: self, then: done).send()
    }

    /// Why a commit was refused.
    ///
    /// - Parameter reply: the session as another process has left it; nothing when one has reserved it.
    func overtaken(_ id: SessionID, by reply: RedisReply) -> StoreError {
        reply.list.isEmpty ? .conflict : .overtaken { [self] in found(id, reply).session }
    }

    /// How late a copy of a request may come that a connection carried when it was cut, in milliseconds. Until then an
    /// ended session must not come back by it.
    static let lateness = 60_000

    /// For how long a server looks for expired sessions, in milliseconds, before another one may.
    static let turnTime = 10_000

    /// The latest time to count with, in milliseconds: in the year 37648.
    static let never: Int64 = 1 << 50

    /// The last of the fields: see ``RedisScript/replays``.
    private func add(_ replay: Replay, _ id: SessionID, to values: inout RedisRequest.Arguments) {
        let entry = replay.entry
        let end = settings.expiryMargin.map { " \(min(entry.endsAt, Self.never) + $0)" } ?? ""
        values.add(.text(RedisFields.field(entry)))
        values.add(.bytes(fields(id).replay(entry)))
        values.add(.text("K:\(entry.id.text)\(end)"))
        values.add(.bytes(replay.response))
    }

    /// When Redis may end a session, in milliseconds of Unix time.
    private func expiry(_ record: SessionRecord) -> String? {
        settings.expiryMargin.map { String(min(max(record.expiresAt, record.times.keptUntil), Self.never) + $0) }
    }

    // MARK: Indexes

    /// What has to be in indexes before a session is written.
    ///
    /// - Parameter insists: whether it is done also when Redis has no memory left: for a session that is stored.
    func index(_ content: RedisCommit.Content, insists: Bool) -> RedisRequest {
        var request = RedisRequest()
        let record = content.record
        if !content.changesServicesOnly || !content.tasks.isEmpty, let user = record.userID {
            let entry: [RedisRequest.Word] = [.text(String(Self.now)), .text("\(record.id)")]
            request.add(["ZADD", .text(keys.user(user))] + entry, insists: insists)
            // Not before the last of the user's sessions: entries that a failure leaves expire with it.
            for rule in ["NX", "GT"] {
                guard let expiry = expiry(record) else { break }
                request.add("PEXPIREAT", .text(keys.user(user)), .text(expiry), .text(rule))
            }
        }
        for task in content.tasks { index(task, &request, insists: insists) }
        if content.changesTimes, record.times.dueAt < .max {
            bringForward(record.id, to: record.times.dueAt, &request, insists: insists)
        }
        // When it goes earlier than before, the later time stays: `endExpired` ends it.
        let mayLast = content.changesTimes && record.times.keptUntil > record.expiresAt
        if content.replaced != nil, mayLast || !content.changesServicesOnly, let expiry = expiry(record) {
            request.add("PEXPIREAT", .text(keys.session(record.id)), .text(expiry), "GT")
        }
        if content.replaced == nil { request.add(listing(record.id, insists: insists)) }
        return request
    }

    /// Counts a session that is new, and has indexes say what is true after a commit.
    ///
    /// - Parameter reply: of the script, which says what was there.
    func unindex(_ content: RedisCommit.Content, _ reply: RedisReply) {
        let record = content.record
        if content.replaced == nil { counter.add(1) }
        // Another server, which has looked at the session meanwhile, may have moved the entry.
        if content.changesTimes, record.times.dueAt < .max {
            var request = RedisRequest()
            bringForward(record.id, to: record.times.dueAt, &request, insists: true)
            send(request)
        }
        guard !content.changesServicesOnly else { return unindex(record.id, reply, user: reply[1].text) }
        // Another server, which has signed the same user out, may have removed the session from the user's between the
        // two steps of the commit.
        if let user = record.userID, reply[1].text.map({ user.isExactly($0) }) != true {
            send(index(RedisCommit.Content(record: record, replaced: 0, tasks: [], flows: []), insists: true))
        }
        unindex(record.id, reply, user: record.userID, except: Set(content.tasks.map(\.id)))
    }

    /// Removes what a script says was there from the indexes.
    ///
    /// - Parameter user: whom the session has now.
    func unindex(_ id: SessionID, _ reply: RedisReply, user: String?, except kept: Set<TaskID> = []) {
        if let former = reply[1].text, user?.isExactly(former) != true { unindex(id, user: former) }
        var request = RedisRequest()
        let tasks = reply.list.dropFirst(2).compactMap { $0.bytes.flatMap(RedisFields.task) }
        for task in tasks where !kept.contains(task.id) {
            unindex(task, &request)
        }
        send(request)
    }

    /// Removes a session from those of a user.
    func unindex(_ id: SessionID, user: String) {
        unindex(id, from: keys.user(user), score: Self.now, field: "o") { $0.isExactly(user) }
    }

    /// Removes a session from the list of all.
    func unindex(_ id: SessionID) {
        unindex(id, from: keys.sessions(with: id), score: 0, field: "r") { _ in true }
    }

    /// Adds it again if it belongs there meanwhile, which a field of it says.
    private func unindex(
        _ id: SessionID, from list: String, score: Int64, field: RedisRequest.Word,
        belongs: @escaping @Sendable (String) -> Bool
    ) {
        var request = RedisRequest("ZREM", .text(list), .text("\(id)"))
        request.beginStage()
        request.add("HGET", .text(keys.session(id)), field)
        _ = router.append(request, isBounded: false) { [self] outcome in
            guard case .replies(let replies) = outcome, let value = replies[1].text, belongs(value) else { return }
            var request = RedisRequest()
            request.add(["ZADD", .text(list), .text(String(score)), .text("\(id)")], insists: true)
            send(request)
        }
    }
}

extension StoredSession {
    /// With a revision that no session of its id has had before: a server that remembers one takes it for another.
    fileprivate func beginning(at floor: UInt64) -> StoredSession {
        let record = raisingRevisionFloor(to: floor).record
        let begun = SessionRecord(
            id: record.id, token: record.token, createdAt: record.createdAt, expiresAt: record.expiresAt,
            revision: max(record.revision, floor), services: record.services, times: record.times,
            details: record.details)
        return StoredSession(record: begun, lastUsedAt: lastUsedAt)
    }
}

/// Fields of a session, with their values.
extension RedisRequest.Arguments {
    /// User and head.
    fileprivate mutating func add(_ record: SessionRecord, _ fields: RedisFields) {
        if let user = record.userID {
            add("o")
            add(.text(user))
        }
        add("h")
        add(.bytes(fields.head(record)))
    }

    fileprivate mutating func add(_ times: SessionTimes) {
        if times.dueAt < .max {
            add("d")
            add(.text(String(times.dueAt)))
        }
        if times.keptUntil > .min {
            add("w")
            add(.text(String(times.keptUntil)))
        }
    }

    fileprivate mutating func add(_ document: ServiceDocument, _ name: String, _ fields: RedisFields) {
        add(.text("s:\(name)"))
        add(.bytes(fields.service(document, named: name)))
    }

    mutating func add(_ task: StoredTask) {
        add(.text(RedisFields.field(task.id)))
        add(.bytes(RedisFields.task(task)))
    }
}
