/// What a store has, counted now and then.
package struct StoreCounts: Sendable, Equatable {
    /// The journeys at each place.
    package var places: [JourneyPlace: Int] = [:]
    /// The tasks of each name. Of more than ``Sessions/tasksAtOnce`` they are those of the last round through them.
    package var tasks: [String: Tasks] = [:]

    package struct Tasks: Sendable, Equatable {
        package var byStatus: [TaskStatus: Int] = [:]
        /// When the oldest of them began.
        package var oldest = Int64.max
    }

    /// When ``tasks`` were counted. In steady time.
    package var countedAt = Int64.min

    fileprivate var round = Round()

    /// A round through the tasks.
    fileprivate struct Round: Sendable, Equatable {
        var tasks: [String: Tasks] = [:]
        var last: TaskID?
        /// When it may go on.
        var dueAt = Int64.min
    }

    /// The journeys that are not over.
    package var running: Int { places.reduce(0) { $0 + ($1.key.standing == .finished ? 0 : $1.value) } }
}

extension Sessions {
    /// Counts what is in the store, for ``statistics``. It takes little time, however much there is; while the store is
    /// away the former counts stay.
    package func countStore() async {
        guard environment.store.trouble == nil else { return }
        await placeJourneys()
        if let places = try? await environment.store.journeyIndex.journeyCounts() {
            environment.counts.withLock { $0.places = places }
        }
        await countTasks()
    }

    /// How many tasks one call looks at.
    static let tasksAtOnce = 5_000
    private static let taskInterval: Int64 = 5_000

    private func countTasks() async {
        let now = environment.clock.now()
        let round = environment.counts.withLock { counts -> StoreCounts.Round? in
            guard counts.round.dueAt <= now else { return nil }
            counts.round.dueAt = now + Self.taskInterval
            return counts.round
        }
        guard var round else { return }
        let query = TaskQuery(now: now, after: round.last, limit: Self.tasksAtOnce)
        guard let found = try? await tasks(query) else { return }
        for task in found {
            var tasks = round.tasks[task.name] ?? .init()
            tasks.byStatus[task.status(at: now), default: 0] += 1
            tasks.oldest = min(tasks.oldest, task.createdAt)
            round.tasks[task.name] = tasks
        }
        let isOver = found.count < Self.tasksAtOnce
        round.last = found.last?.id
        environment.counts.withLock { [round] counts in
            // Of the first round what is known so far.
            if isOver || counts.tasks.isEmpty { (counts.tasks, counts.countedAt) = (round.tasks, now) }
            counts.round = isOver ? .init(dueAt: round.dueAt) : round
        }
    }
}
