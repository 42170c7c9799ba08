import Sessions

/// Tasks are fields of their session. The sets of all tasks tell where to look; times in them may be of a moment ago.
extension RedisStore {
    package func claimTasks(_ claim: TaskClaim) async throws(StoreError) -> TaskClaims {
        var claimed: [StoredTask] = []
        let key = keys.ready(claim.name)
        try await walk(key, upTo: claim.now, page: max(claim.limit, 32)) { (found) throws(StoreError) in
            var ready = found.filter { $0.task.isReady(at: claim.now) && $0.task.name.isExactly(claim.name) }[...]
            try await reindex(found.filter { $0.task.readyAt > claim.now })
            // Another server may take some of them first.
            while claimed.count < claim.limit, !ready.isEmpty {
                let tried = ready.prefix(claim.limit - claimed.count).map { found in
                    var task = found.task
                    task.claim(until: claim.end)
                    return (former: found.text, task: task)
                }
                ready = ready.dropFirst(tried.count)
                claimed += try await swap(tried)
            }
            return claimed.count < claim.limit
        }
        let next = try await ask(
            RedisRequest(
                "ZRANGEBYSCORE", .text(key), .text("(\(claim.now)"), "+inf", "WITHSCORES", "LIMIT", "0", "1"))[0]
        return TaskClaims(tasks: claimed, nextDue: next[1].number)
    }

    package func updateTask(_ id: TaskID, _ update: TaskUpdate) async throws(StoreError) -> StoredTask? {
        for _ in 0..<100 {
            let field = RedisRequest("HGET", .text(keys.session(id.session)), .text(RedisFields.field(id)))
            guard let text = try await ask(field)[0].bytes, let former = RedisFields.task(text) else {
                try await marks.confirm(absenceOf: id.session)
                return nil
            }
            var task = former
            task.apply(update)
            if case .remove = update {
                var request = RedisRequest()
                swap(id, text, [], &request)
                guard try await ask(request)[0].number == 1 else { continue }
                var removal = RedisRequest()
                unindex(task, &removal)
                _ = try await ask(removal)
                return task
            }
            if task == former { return task }
            if let done = try await swap([(text, task)]).first { return done }
        }
        throw .unavailable("Other servers keep changing \(id).")
    }

    package func overdueTasks(now: Int64, limit: Int) async throws(StoreError) -> [StoredTask] {
        var overdue: [StoredTask] = []
        try await walk(keys.overdue, upTo: now, page: limit) { (found) throws(StoreError) in
            try await reindex(found.filter { $0.task.overAt > now })
            overdue += found.map(\.task).filter { $0.overAt <= now }
            return overdue.count < limit
        }
        return Array(overdue.prefix(limit))
    }

    package func tasks(_ query: TaskQuery) async throws(StoreError) -> [StoredTask] {
        let key = query.user.map(keys.tasks(naming:)) ?? keys.tasks
        var tasks: [StoredTask] = []
        var start = query.start.map { "(\($0.member)" } ?? "-"
        // The names of a session's tasks begin with its id.
        let end = query.session.map { "[\(TaskID(session: $0, journey: "~", number: .max).member)" } ?? "+"
        while tasks.count < query.limit {
            let members = try await ask(
                RedisRequest("ZRANGEBYLEX", .text(key), .text(start), .text(end), "LIMIT", "0", "256"))[0]
                .list
                .compactMap(\.text)
            tasks += try await look(members, in: key).map(\.task).filter(query.fits)
            guard members.count == 256, let last = members.last else { break }
            start = "(\(last)"
        }
        return Array(tasks.prefix(query.limit))
    }

    // MARK: Looking

    private typealias Found = (text: [UInt8], task: StoredTask)

    /// Looks at all tasks of a set up to a time, page by page, as long as `body` wants more.
    private func walk(
        _ key: String, upTo time: Int64, page: Int, _ body: ([Found]) async throws(StoreError) -> Bool
    ) async throws(StoreError) {
        var seen: Set<String> = []
        while true {
            // What was seen may have left the set, or still be there.
            let limit = String(seen.count + page)
            let members = try await ask(
                RedisRequest("ZRANGEBYSCORE", .text(key), "-inf", .text(String(time)), "LIMIT", "0", .text(limit)))[0]
                .list.compactMap(\.text)
            let new = members.filter { seen.insert($0).inserted }
            guard !new.isEmpty, try await body(try await look(new, in: key)) else { return }
        }
    }

    /// The tasks of members of a set. What does not exist is removed when it has been missing for a minute.
    private func look(_ members: [String], in key: String) async throws(StoreError) -> [Found] {
        let ids = members.map { TaskID(member: $0) }
        var request = RedisRequest()
        for id in ids.compactMap(\.self) {
            request.add("HGET", .text(keys.session(id.session)), .text(RedisFields.field(id)))
        }
        var replies = try await ask(request)[...]
        var found: [Found] = []
        for (member, id) in zip(members, ids) {
            let text = id == nil ? nil : replies.popFirst()?.bytes
            if let text, let task = RedisFields.task(text) {
                found.append((text, task))
            } else if taskDoubts.isOver("\(key) \(member)") {
                var request = RedisRequest()
                for key in [key, keys.tasks, keys.overdue] { request.add("ZREM", .text(key), .text(member)) }
                send(request)
            }
        }
        return found
    }

    // MARK: Changing

    private func swap(_ id: TaskID, _ former: [UInt8], _ text: [UInt8], _ request: inout RedisRequest) {
        request.isRepeatable = false
        request.needsReplicas = true
        request.call(
            .swap, keys.session(id.session), .text(RedisFields.field(id)), .bytes(former), .bytes(text),
            .text(String(Self.lateness)))
    }

    /// Puts tasks in the places of their former texts, and returns those that nobody else has changed since.
    private func swap(_ tasks: [(former: [UInt8], task: StoredTask)]) async throws(StoreError) -> [StoredTask] {
        var request = RedisRequest()
        for (former, task) in tasks { swap(task.id, former, RedisFields.task(task), &request) }
        let done = zip(tasks, try await ask(request)).filter { $1.number == 1 }.map(\.0.task)
        try await reindex(done.map { (RedisFields.task($0), $0) })
        return done
    }

    /// Of two servers that write a task's times at once, the one that comes last may have the older times. So each
    /// looks at the task afterwards.
    private func reindex(_ tasks: [Found]) async throws(StoreError) {
        var request = RedisRequest()
        for (_, task) in tasks { index(task, &request, insists: true) }
        request.beginStage()
        for (_, task) in tasks {
            request.add("HGET", .text(keys.session(task.id.session)), .text(RedisFields.field(task.id)))
        }
        var changed: [Found] = []
        for ((text, task), current) in zip(tasks, try await ask(request).suffix(tasks.count)) {
            if let found = current.bytes {
                if found != text, let task = RedisFields.task(found) { changed.append((found, task)) }
            } else {
                var request = RedisRequest()
                unindex(task, &request)
                send(request)
            }
        }
        if !changed.isEmpty { try await reindex(changed) }
    }

    /// - Parameter insists: whether it is done also when Redis has no memory left: for tasks that are stored.
    func index(_ task: StoredTask, _ request: inout RedisRequest, insists: Bool) {
        let member = RedisRequest.Word.text(task.id.member)
        for (key, time) in [(keys.ready(task.name), task.readyAt), (keys.overdue, task.overAt)] {
            if time < .max {
                request.add(["ZADD", .text(key), .text(String(time)), member], insists: insists)
            } else {
                request.add("ZREM", .text(key), member)
            }
        }
        if let user = task.userID {
            let key = keys.tasks(naming: user)
            request.add(["ZADD", .text(key), "0", member], insists: insists)
            // Not before the last of them: entries that a failure leaves expire with it.
            for rule in ["NX", "GT"] {
                guard let margin = settings.expiryMargin else { break }
                let end = min(Self.now.later(by: settings.noticeTime), Self.never) + margin
                request.add("PEXPIREAT", .text(key), .text(String(end)), .text(rule))
            }
        }
        // Added last and removed first: a leftover is then still in one of the others, whose readers remove it.
        request.add(["ZADD", .text(keys.tasks), "0", member], insists: insists)
    }

    func unindex(_ task: StoredTask, _ request: inout RedisRequest) {
        let ofUser = task.userID.map(keys.tasks(naming:))
        for key in [keys.tasks, keys.overdue, keys.ready(task.name), ofUser].compactMap(\.self) {
            request.add("ZREM", .text(key), .text(task.id.member))
        }
    }
}
