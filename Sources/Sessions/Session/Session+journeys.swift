import JSONDocument
import Navigation

/// What clients do with journeys. Each call is one unit of work: where the journey goes and what that does to services
/// are committed together, or nothing is.
///
/// Before anything is done to a journey, what time has done to it is: it has expired, a screen's time is over, its
/// version is gone. So is what services have done that were written from outside: a screen may not be shown any more,
/// an `always` leads on. The engine says that it is due when it looks at the journey. All this is committed also when
/// what was asked for is refused then. The first access to `main` starts it in the same way, when a flow is configured
/// for it.
///
/// They throw `JourneyRefusal` for what the flow does not allow, ``JourneyError``, and ``SessionError``.
extension Session {
    /// All that are kept, the first that was started first. Starts none.
    nonisolated(nonsending) package func journeys() async throws -> [JourneyText] {
        try await withTimeEnough { try await self.journeysHere() }
    }

    nonisolated(nonsending) private func journeysHere() async throws -> [JourneyText] {
        var work = try JourneyWork(on: try pendingState(), environment)
        if !work.kept.entries.contains(where: { work.isUnsettled($0.journey.id) }) {
            do {
                let shown = try work.kept.entries.map { try work.text(of: $0) }
                remember(work.pending.newMemory, after: work.pending.memory)
                return shown
            } catch JourneyRefusal.due {}
        }
        return try await transact { [self] pending in
            try environment.createForJourneys(on: &pending)
            var work = try JourneyWork(on: pending, environment)
            for entry in work.kept.entries { try work.createOwned(of: entry) }
            // A step may write a service that another journey looks at. Two that contend for one are shown as they are,
            // and one that cannot go on is shown as stuck and hides no other.
            for _ in 0...work.kept.entries.count {
                var hasMoved = false
                for entry in work.kept.entries where try work.advanceIfPossible(entry) { hasMoved = true }
                guard hasMoved else { break }
            }
            let shown = try work.kept.entries.map { try work.text(of: $0, isSettled: true) }
            pending = work.pending
            return shown
        }
    }

    /// Starts a journey.
    nonisolated(nonsending) package func startJourney(
        flow: String, version: Int? = nil, input: JSONDocument? = nil, at screen: String? = nil
    ) async throws -> JourneyText {
        try await startJourney(
            flow: flow, version: version, input: input, at: screen, resumes: false, withSchemas: false, once: nil
        ).0.text
    }

    /// The same; or gives the running one of the flow, if `resumes` and there is one.
    ///
    /// - Parameters:
    ///   - version: nil for the highest that is loaded.
    ///   - screen: begins there, with the screens below it that a person would have passed; nil for the flow's first.
    ///   - params: what the frame there has among its params.
    ///   - withSchemas: whether the schemas of the events are wanted, too.
    ///   - once: the request, if its copies must not be executed again.
    /// - Returns: the journey, and whether it was started.
    /// - Throws: ``JourneyError/tooMany(limit:)``.
    nonisolated(nonsending) package func startJourney(
        flow: String, version: Int?, input: JSONDocument?, at screen: String?, params: JSONDocument? = nil,
        resumes: Bool, withSchemas: Bool, once: Once<(JourneyForm, isNew: Bool)>?
    ) async throws -> (JourneyForm, isNew: Bool) {
        let id = JourneyID.make(environment.random)
        return try await drive(nil, isLong: screen != nil && hasLongWays, once: once) { work in
            if resumes, let running = try work.running(flow, version: version) {
                return (try work.form(of: running, withSchemas: withSchemas), false)
            }
            let journey = try work.start(
                id, flow: flow, version: version, input: input, at: screen, params: params)
            return (try work.form(of: journey, withSchemas: withSchemas), true)
        }
    }

    /// Starts a journey over: its stack and coordinators are released first. The journey `main` may be begun this way.
    ///
    /// - Parameters:
    ///   - flow: nil for the one that it ran.
    ///   - input: nil, where the flow is nil, too, for the one that it was given, if it still runs; else for none.
    ///   - withSchemas: whether the schemas of the events are wanted, too.
    ///   - once: the request, if its copies must not be executed again.
    /// - Returns: the journey, and whether it was not there before.
    nonisolated(nonsending) package func restartJourney(
        _ id: String, flow: String?, input: JSONDocument?, condition: WriteCondition, by actor: JourneyActor = .client,
        withSchemas: Bool, once: Once<(JourneyForm, isNew: Bool)>?
    ) async throws -> (JourneyForm, isNew: Bool) {
        return try await drive(id, by: actor, begins: false, once: once) { work in
            if let journey = work.kept[id] {
                _ = try work.journey(id, if: condition)
                let again = try work.restart(journey, flow: flow, input: input)
                return (try work.form(of: again, withSchemas: withSchemas), false)
            }
            guard id == JourneySettings.mainID else { throw work.absence(of: id) }
            guard condition.holds(forJourney: nil) else { throw JourneyError.preconditionFailed(current: nil) }
            guard let flow = flow ?? work.pending.definitions.journeys.mainFlow else { throw JourneyError.noMainFlow }
            let journey = try work.start(id, flow: flow, input: input)
            return (try work.form(of: journey, withSchemas: withSchemas), true)
        }
    }

    /// Something happened on the screen that the client draws.
    ///
    /// - Parameter data: as the screen accepts it with the event.
    @discardableResult
    nonisolated(nonsending) package func send(
        _ event: String, data: JSONDocument? = nil, toJourney id: String, condition: WriteCondition = .none,
        by actor: JourneyActor = .client
    ) async throws -> JourneyText {
        try await withUnsafeThrowingContinuation { waiting in
            send(event, data: data, toJourney: id, condition: condition, by: actor) {
                waiting.resume(with: $0.map { $0.text })
            }
        }
    }

    /// The same with a completion, and once for all copies of a request.
    ///
    /// - Parameters:
    ///   - actor: from a back end the events that a flow's `backend` names are accepted, too.
    ///   - challenge: what a sign-in by a task that the event leads to asks proof of (``CodeChallenge``).
    ///   - withSchemas: whether the schemas of the events that can come next are wanted, too.
    ///   - token: see ``transact(_:then:)``.
    ///   - done: see ``transact(_:then:)``.
    package func send(
        _ event: String, data: JSONDocument? = nil, toJourney id: String, condition: WriteCondition = .none,
        by actor: JourneyActor = .client, challenge: String? = nil, withSchemas: Bool = false,
        presenting token: TokenDigest? = nil, once: Once<JourneyForm>? = nil,
        then done: @escaping Completion<JourneyForm>
    ) {
        let isLong = environment.definitions.journeys.engine.catalog.mostStatesToResume > Self.manyStates
        transact(isLong: isLong, presenting: token, once: once?.ofSuccess()) { [self] pending in
            try work(on: id, by: actor, &pending) { work in
                // In two statements: what is called on the value first would not see what the second does to it.
                let standing = try work.journey(id, if: condition)
                let moved = try work.send(event, data: data, to: standing, if: condition, challenge: challenge)
                return try work.form(of: moved, withSchemas: withSchemas)
            }
        } then: {
            done($0.flatMap(\.self))
        }
    }

    /// Where a journey stands, with the schemas of its events.
    ///
    /// - Parameter work: how much work their choices may make. What is left of it is in the schemas.
    nonisolated(nonsending) package func journeyForm(
        _ id: String, work: Int = EventSchemas.mostWork
    ) async throws -> JourneyForm {
        try await drive(id, isLook: true) { try $0.form(of: try $0.journey(id), work: work) }
    }

    /// What an operator is shown of a journey: where it stands, and the services that the screens on its stack show.
    nonisolated(nonsending) package func inspectJourney(
        _ id: String, withSchemas: Bool
    ) async throws -> (form: JourneyForm, services: [InspectedService]) {
        try await drive(id, by: .admin, isLook: true) { work in
            let entry = try work.journey(id)
            return (try work.form(of: entry, withSchemas: withSchemas), try work.inspectServices(of: entry.journey))
        }
    }

    /// The last steps of a journey, the oldest first.
    nonisolated(nonsending) package func history(ofJourney id: String) async throws -> [JourneyStep] {
        try await drive(id, by: .admin, isLook: true) { work in
            try work.journey(id).history?.steps(timesMovedBy: work.clockShift) ?? []
        }
    }

    /// Goes to a screen along the shortest way that the flow allows.
    ///
    /// - Returns: the journey, and the screens of the way, the one that it ends at last; none when it stood there.
    nonisolated(nonsending) package func navigate(
        journey id: String, to screen: String, params: JSONDocument? = nil, condition: WriteCondition = .none
    ) async throws -> (shown: JourneyText, path: [String]) {
        let (form, path) = try await navigate(
            journey: id, to: screen, params: params, condition: condition, withSchemas: false, once: nil)
        return (form.text, path)
    }

    /// The same for a request.
    ///
    /// - Parameters:
    ///   - params: what the frame of the screen has among its params.
    ///   - actor: an operator may go by more ways
    ///     (``FlowEngine/navigate(_:to:params:isByOperator:services:now:)``).
    ///   - withSchemas: whether the schemas of the events are wanted, too.
    ///   - once: the request, if its copies must not be executed again.
    nonisolated(nonsending) package func navigate(
        journey id: String, to screen: String, params: JSONDocument? = nil, condition: WriteCondition,
        by actor: JourneyActor = .client, withSchemas: Bool, once: Once<(JourneyForm, path: [String])>?
    ) async throws -> (JourneyForm, path: [String]) {
        try await drive(id, by: actor, isLong: hasLongWays, once: once) { work in
            let standing = try work.journey(id, if: condition)
            let (journey, path) = try work.navigate(standing, to: screen, params: params)
            return (try work.form(of: journey, withSchemas: withSchemas), path)
        }
    }

    /// Whether finding a way may take long.
    private var hasLongWays: Bool { environment.definitions.journeys.engine.catalog.mostStates > Self.manyStates }

    private static let manyStates = 100

    /// Gives a journey up: its coordinators go, children first, then its stack, then it is forgotten.
    ///
    /// - Parameter once: the request, if its copies must not be executed again.
    nonisolated(nonsending) package func abandonJourney(
        _ id: String, condition: WriteCondition = .none, once: Once<Void>? = nil
    ) async throws {
        try await drive(id, begins: false, once: once) { work in
            let standing = try work.journey(id, if: condition)
            try work.abandon(standing)
        }
    }

    /// One unit of work on a journey.
    nonisolated(nonsending) func drive<Done: Sendable>(
        _ id: String?, by actor: JourneyActor = .client, begins: Bool = true, isLook: Bool = false,
        isLong: Bool = false, once: Once<Done>? = nil,
        _ body: @escaping @Sendable (inout JourneyWork) throws -> Done
    ) async throws -> Done {
        try await transact(isLong: isLong, once: once?.ofSuccess()) { [self] pending in
            try work(on: id, by: actor, begins: begins, isLook: isLook, &pending, body)
        }.get()
    }

    /// - Parameters:
    ///   - id: the journey that has to catch up with the time before; nil for none.
    ///   - begins: whether this may start `main`. If not, a journey that cannot catch up is no obstacle: callers may
    ///     abandon or restart a journey whose version is not loaded.
    ///   - isLook: whether a journey that cannot catch up is only to be shown, as stuck.
    func work<Done>(
        on id: String?, by actor: JourneyActor = .client, begins: Bool = true, isLook: Bool = false,
        _ pending: inout PendingState, _ body: (inout JourneyWork) throws -> Done
    ) throws -> Result<Done, any Error> {
        let hidden = actor == .client ? pending.catalog.hidden : []
        do {
            let result = try openWork(on: id, by: actor, begins: begins, isLook: isLook, &pending, body)
            return hidden.isEmpty ? result : result.mapError { Self.concealing(hidden, in: $0) }
        } catch {
            throw Self.concealing(hidden, in: error)
        }
    }

    /// The error without what it says of services that no client may know of.
    private static func concealing(_ hidden: Set<String>, in error: any Error) -> any Error {
        switch error {
        case let refusal as JourneyRefusal: refusal.concealing(hidden)
        case let error as SessionError: error.concealing(hidden)
        default: error
        }
    }

    /// The same with what no client may know in its errors.
    private func openWork<Done>(
        on id: String?, by actor: JourneyActor, begins: Bool, isLook: Bool, _ pending: inout PendingState,
        _ body: (inout JourneyWork) throws -> Done
    ) throws -> Result<Done, any Error> {
        if !pending.definitions.createdForJourneys.isEmpty { try environment.createForJourneys(on: &pending) }
        var work = try JourneyWork(on: pending, environment, by: actor)
        if let id {
            do {
                try work.settle(id, begins: begins)
                if let entry = work.kept[id] { try work.createOwned(of: entry) }
                if work.pending.isRecordChanged { pending = work.pending }
            } catch is JourneyRefusal where !begins || (isLook && work.kept[id] != nil) {
                work = try JourneyWork(on: pending, environment, by: actor)
            }
        }
        do {
            let done: Done
            do {
                done = try body(&work)
            } catch JourneyRefusal.due where id != nil {
                let beforeEvent = work.hasActed
                work = try JourneyWork(on: pending, environment, by: actor)
                if let entry = id.flatMap({ work.kept[$0] }) { try work.advance(entry, beforeEvent: beforeEvent) }
                if work.pending.isRecordChanged { pending = work.pending }
                done = try body(&work)
            }
            work.exchange(&pending)
            return .success(done)
        } catch {
            // A service that could not be read or run stood as its default for the step.
            let cause = work.documents.failure ?? error
            guard pending.isRecordChanged else { throw cause }
            // What time has done stays done.
            return .failure(cause)
        }
    }

    /// Gives up every journey, the newest first, before what keeps them goes.
    ///
    /// - Returns: whether it has to stay even so, for the steps of journeys to come.
    func giveUpJourneys(on pending: inout PendingState) throws(SessionError) -> Bool {
        // What cannot be read can still be removed.
        guard var work = try? JourneyWork(on: pending, environment) else { return false }
        for entry in work.kept.entries.reversed() { try work.abandon(entry) }
        pending = work.pending
        return !work.kept.isEmpty
    }

    /// Where a journey stands: its flow, and the state whose frame is on top; nil when there is no such journey.
    package func place(ofJourney id: String) -> (flow: String, state: String?)? {
        guard let work = try? JourneyWork(on: try pendingState(), environment), let journey = work.kept[id]?.journey
        else { return nil }
        return journey.screen.map { ($0.flow, $0.state) } ?? (journey.flow, nil)
    }

    /// How to start a journey over with its flow; nil when there is no such journey or flow.
    package func restart(of id: String) -> JourneyRestart? {
        guard let work = try? JourneyWork(on: try pendingState(), environment), let journey = work.kept[id]?.journey,
            let flow = work.engine.catalog.flow(journey.flow)
        else { return nil }
        var needed: JSONDocument?
        if let rule = flow.input, !rule.accepts(journey.input) { needed = rule.document }
        return JourneyRestart(flow: flow.id, input: journey.input, neededInput: needed)
    }
}

/// What starts a journey over as it began.
package struct JourneyRestart {
    package let flow: String
    /// What it was given, as far as that is known.
    package let input: JSONDocument
    /// The schema of the flow's input, if the flow does not take that.
    package let neededInput: JSONDocument?
}
