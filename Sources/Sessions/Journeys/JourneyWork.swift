import JSONDocument
import Navigation

/// Journeys and services of a session in one unit of work: steps are done here on a copy, which becomes real when
/// ``pending`` is committed.
struct JourneyWork {
    var pending: PendingState
    var kept: KeptJourneys
    let documents: SessionDocuments
    let coordinator: RegisteredService
    let environment: SessionEnvironment
    /// What guards said of documents, before and in this unit of work.
    var guards: GuardMemory
    /// Whether an event was sent, a link followed or a task ended. The journey moves to a newer version before that.
    var hasActed = false
    /// What the last step came with to be shown, if nothing was done since that is seen in it.
    var prepared: ViewText?
    /// Where the last step has led, if one was taken.
    var way: JourneyWay?
    /// How often hooks have made what coordinators own.
    var creations = 0
    /// The task whose result is being taken.
    var endingTask: UInt64?
    /// Who makes journeys move.
    var actor = JourneyActor.client
}

extension JourneyWork {
    // Not among the members, so that the compiler makes the memberwise initializer.
    /// - Throws: ``SessionError`` when there is no coordinator, or a store has not kept it as it was.
    init(
        on pending: PendingState, _ environment: SessionEnvironment, by actor: JourneyActor = .client
    ) throws(SessionError) {
        let coordinator = try pending.definitions.coordinator
        let kept = try Self.kept(in: pending, coordinator)
        let memory = pending.knownMemory
        let documents = SessionDocuments(
            pending.living.instances, environment, pending.definitions, knowing: memory?.documents ?? [])
        if !kept.patched.isEmpty { documents.patched = kept.patched }
        if !kept.tasks.isEmpty { documents.roomForTasks = max(0, SideTask.mostOfSession - kept.tasks.count) }
        let guards = memory?.guards ?? GuardMemory()
        // This is the last use, so the value is moved, not copied.
        self.init(
            pending: pending, kept: kept, documents: documents, coordinator: coordinator, environment: environment,
            guards: guards, actor: actor)
    }

    private static func kept(
        in pending: PendingState, _ coordinator: RegisteredService
    ) throws(SessionError) -> KeptJourneys {
        guard let bytes = try coordinator.readable(pending.document(of: coordinator)) else { return KeptJourneys() }
        if let known = pending.knownMemory?.journeys(keptAs: bytes) { return known }
        do {
            return try KeptJourneys(reading: bytes)
        } catch {
            throw .serviceFailed(
                service: coordinator.name, reason: "What the store kept cannot be read from byte \(error.offset) on.")
        }
    }

    /// Goes on from another state.
    mutating func begin(on pending: PendingState) throws(SessionError) {
        var new = try JourneyWork(on: pending, environment, by: actor)
        new.hasActed = hasActed
        self = new
    }

    /// Hands over what is to be committed, and takes what it was made from, so that neither is copied.
    mutating func exchange(_ pending: inout PendingState) { swap(&self.pending, &pending) }

    var settings: JourneySettings { pending.definitions.journeys }
    var engine: FlowEngine { settings.engine }

    /// The journey of that id, if it is what the caller expects.
    mutating func journey(_ id: String, if condition: WriteCondition = .none) throws -> KeptJourney {
        guard let entry = kept[id] else { throw absence(of: id) }
        if condition.isEmpty { return entry }
        let current = try etag(of: entry)
        guard condition.holds(forJourney: (entry.journey.step, current)) else {
            throw JourneyError.preconditionFailed(current: current)
        }
        return entry
    }

    /// Why there is no journey of that id.
    func absence(of id: String) -> JourneyError {
        kept.transfers.departure(of: id) == nil ? .notFound(id) : .moved(id)
    }

    /// The running journey of a flow that moved last, after what time has done to it; nil when there is none.
    mutating func running(_ flow: String, version: Int?) throws -> KeptJourney? {
        let candidates = kept.entries.filter { entry in
            entry.journey.isActive && entry.journey.flow == flow
                && version.map { $0 == entry.journey.version } ?? true
        }
        for entry in candidates.sorted(by: { $0.journey.movedAt > $1.journey.movedAt }) {
            try advanceIfPossible(entry)
            guard let entry = kept[entry.journey.id], entry.journey.isActive,
                engine.obstacle(to: entry.journey, services: documents, now: pending.now) == nil
            else { continue }
            return entry
        }
        if let failure = documents.failure { throw failure }
        return nil
    }

    /// Whether something has to be committed before the journey is looked at.
    func isUnsettled(_ id: String) -> Bool {
        guard let entry = kept[id] else { return mayBegin(id) }
        return engine.isDue(entry.journey, now: pending.now) || !missingOwned(in: id).isEmpty
            || pending.definitions.createdForJourneys.contains { !pending.isLive($0) }
    }

    /// Does what time has done to the journey.
    ///
    /// - Parameter begins: whether `main` is begun when it is not there.
    mutating func settle(_ id: String, begins: Bool) throws {
        if let entry = kept[id] {
            if engine.isDue(entry.journey, now: pending.now) { try advance(entry) }
        } else if begins, mayBegin(id), let flow = settings.mainFlow {
            try start(id, flow: flow)
        }
    }

    /// Whether a look begins the journey. One that has moved is begun anew only when that is asked for.
    private func mayBegin(_ id: String) -> Bool {
        id == JourneySettings.mainID && settings.mainFlow != nil && kept.transfers.departure(of: id) == nil
    }

    /// Does what time has done to a journey, and what services have that were written from outside.
    ///
    /// - Returns: whether that was anything.
    @discardableResult
    mutating func advance(_ entry: KeptJourney, beforeEvent: Bool = false) throws -> Bool {
        let isLate = engine.isDue(entry.journey, now: pending.now)
        let step = try engine.advance(
            entry.journey, services: documents, now: pending.now, beforeEvent: beforeEvent)
        guard let step else { return false }
        let isMoved = step.journey.version != entry.journey.version
        try take(step, isLate || step.journey.step == entry.journey.step ? .timer : isMoved ? .version : .rule)
        return true
    }

    /// The same for a journey that may be stuck.
    @discardableResult
    mutating func advanceIfPossible(_ entry: KeptJourney) throws -> Bool {
        do { return try advance(entry) } catch is JourneyRefusal { return false }
    }

    @discardableResult
    mutating func start(
        _ id: String, flow: String, version: Int? = nil, input: JSONDocument? = nil, at screen: String? = nil,
        params: JSONDocument? = nil
    ) throws -> KeptJourney {
        let input = input ?? .emptyObject
        try engine.checkIsDeclared(input, of: flow, version: version)
        let step =
            if let screen {
                try engine.start(
                    flow: flow, version: version, id: id, input: input, at: screen, params: params,
                    services: documents, now: pending.now
                ).step
            } else {
                try engine.start(
                    flow: flow, version: version, id: id, input: input, services: documents, now: pending.now)
            }
        // Only now: what cannot be started pushes nothing out. `main` always has a place, for it is started by a look.
        if id != JourneySettings.mainID { try kept.makeRoom(limit: settings.maxJourneys) }
        return try take(step, .start)
    }

    /// - Parameter input: nil keeps, with `flow` nil, the one that a running journey was given.
    mutating func restart(_ entry: KeptJourney, flow: String?, input: JSONDocument?) throws -> KeptJourney {
        let journey = entry.journey
        if let input { try engine.checkIsDeclared(input, of: flow ?? journey.flow, version: nil) }
        let input = input ?? (flow == nil ? journey.input : .emptyObject)
        kept.forgetLinks(to: journey.id)
        return try take(
            engine.restart(
                journey, flow: flow ?? journey.flow, input: input, services: documents, now: pending.now), .startOver)
    }

    /// - Parameters:
    ///   - condition: holds already; see ``journey(_:if:)``.
    ///   - challenge: what a task that the event leads to keeps.
    mutating func send(
        _ event: String, data: JSONDocument?, to entry: KeptJourney, if condition: WriteCondition = .none,
        challenge: String? = nil
    ) throws -> KeptJourney {
        guard condition.saysWhatWasSeen || !engine.isFirstWrite(entry.journey) else {
            throw JourneyError.preconditionRequired
        }
        hasActed = true
        let (step, text) = try engine.sendAndShow(
            event, data: data, to: entry.journey, isFromBackend: actor == .backend, challenge: challenge,
            services: documents, now: pending.now, knowing: guards, timesMovedBy: clockShift)
        return try take(step, .event(event), shownAs: text)
    }

    /// - Returns: the journey, and the screens of the way.
    mutating func navigate(
        _ entry: KeptJourney, to screen: String, params: JSONDocument?
    ) throws -> (entry: KeptJourney, path: [String]) {
        hasActed = true
        let navigation = try engine.navigate(
            entry.journey, to: screen, params: params, isByOperator: actor == .admin, services: documents,
            now: pending.now)
        // It may stand there already: no step is taken then.
        guard navigation.step.journey.step != entry.journey.step else { return (entry, navigation.path) }
        return (try take(navigation.step, .navigation), navigation.path)
    }

    /// Does a step: what it does to services, and to the journey.
    ///
    /// - Parameters:
    ///   - cause: what makes the journey take it.
    ///   - text: what is shown of the journey after the step, if that is known.
    /// - Returns: the journey as it is kept.
    @discardableResult
    mutating func take(
        _ step: consuming Step, _ cause: StepCause, shownAs text: ViewText? = nil
    ) throws -> KeptJourney {
        if let failure = documents.failure { throw failure }
        guards = step.memory
        prepared = nil
        for change in step.changes { try make(change) }
        if !step.patches.isEmpty {
            for patch in step.patches { kept.note(patch) }
            documents.patched = kept.patched
        }
        let former = kept[step.journey.id]
        let number = step.journey.step
        if !step.journey.owned.isEmpty { step.journey.stampOwned(revision: pending.revision, at: pending.now) }
        if !cause.isByTime { step.journey.isOfUser = pending.hasUser }
        let (left, entered) = (former?.screen, step.journey.screen)
        // The one before stays when the step has only said anew when the journey is due.
        let isStep = former.map { $0.journey.step != number } ?? true
        let history =
            isStep
            ? JourneyHistory.adding(
                cause, by: actor, from: left?.state, to: entered?.state, at: pending.now, after: former?.history) : nil
        var entry = kept.keep(step.journey, history: history)
        // Clients have seen steps that the store does not know: of a commit no more than two, what time has done and
        // what was asked for. So a step is never above twice the revision.
        let floor = 2 * pending.base.revisionFloor
        if entry.journey.step <= floor {
            entry = kept.keep(entry.journey.continuing(after: floor + 1 - entry.journey.step))
        }
        let way = JourneyWay(
            left: left, entered: entered, status: entry.journey.status, ofFlow: entry.journey.flow)
        if way.moves { pending.ways.append(way) }
        self.way = way
        if former?.journey.task != nil || entry.journey.task != nil {
            note(former?.journey.task, of: entry.journey, isKept: true)
        }
        if !step.sideTasks.isEmpty { record(step.sideTasks, of: entry.journey) }
        try keep(atMost: cause.isByTime ? nil : environment.settings.maxJourneysSize)
        // The text says the step that was taken, which may have been raised.
        if entry.journey.step == number { prepared = text }
        return try createOwned(of: entry)
    }

    mutating func make(_ change: ServiceChange) throws(SessionError) {
        let service = try pending.catalog.service(named: change.service)
        guard service.isOpenToFlows else { throw .readOnly(service: service.name) }
        switch change.effect {
        case .written(let document):
            let (state, _) = service.fit(document)
            let text = try service.bounded(state.serialized(), by: environment.settings.maxDocumentSize)
            pending.write(service, text)
            documents.replace(service, by: state, keptAs: text, revision: pending.revision)
        case .cleared:
            pending.clear(service)
            documents.replace(
                service, by: service.default, keptAs: nil, revision: pending.etag(of: service).revision)
        case .removed:
            pending.remove(service)
            documents.replace(service, by: service.default, keptAs: nil, revision: 0)
        }
    }

    /// - Parameter limit: bytes, beside the histories and as many for results that are kept for operators; nil for what
    ///   the outside or the time brings about.
    mutating func keep(atMost limit: Int?) throws(SessionError) {
        let deadline = environment.settings.deadline(
            lastUsedAt: pending.lastUsedAt, idleTimeout: pending.idleTimeout, expiresAt: pending.expiresAt)
        pending.times = environment.times(
            of: kept, by: engine, after: pending.base.times, deadline: deadline, now: pending.now)
        let former = pending.document(of: coordinator)?.bytes.count ?? 0
        let bytes = kept.bytes(former: former)
        let isOver = limit.map { bytes.count > $0 } ?? true
        if isOver {
            pending.isOfAnySize = true
            // One that already is too large may still become smaller.
            let beside = limit.map { min(kept.resultBytes, $0) + kept.historyBytes } ?? 0
            if let limit, bytes.count > former, bytes.count - beside > limit {
                _ = try coordinator.bounded(bytes, by: limit)
            }
        }
        pending.write(coordinator, bytes)
    }

    mutating func keep() throws(SessionError) { try keep(atMost: environment.settings.maxJourneysSize) }
}
