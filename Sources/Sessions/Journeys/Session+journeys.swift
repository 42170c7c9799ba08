import JSONDocument
import Navigation

/// What clients do with journeys. Each call is one unit of work: where the journey goes and what that does to services
/// are committed together, or nothing is.
///
/// Before anything else is done to a journey, what time has done to it is: it has expired, a screen's time is over, its
/// flow has a newer version. That is committed also when what was asked for is refused then.
///
/// They throw `JourneyRefusal` for what the flow does not allow, ``JourneyError``, and ``SessionError``.
extension Session {
    /// Raised by every commit: what was made of the state at one revision holds as long as that is the revision.
    package var revision: UInt64 { state.withLock { $0.record.revision } }

    /// Whether what was shown at that revision is what would be shown now. Costs next to nothing.
    package func stillHolds(revision: UInt64, dueAt: Int64?) -> Bool {
        guard revision == self.revision else { return false }
        return dueAt.map { environment.clock.now() < $0 } ?? true
    }

    /// All that are kept, the first that was started first. Starts none.
    nonisolated(nonsending) package func journeys() async throws -> [ShownJourney] {
        fatalError("to come")
    }

    /// Where a journey stands. `main` is started by the first who asks, when a flow is configured for it.
    nonisolated(nonsending) package func journey(_ id: String) async throws -> ShownJourney {
        fatalError("to come")
    }

    /// The same without waiting.
    ///
    /// - Returns: nil when something has to be committed first: ask ``journey(_:)``.
    package func residentJourney(_ id: String) throws -> ShownJourney? {
        fatalError("to come")
    }

    /// - Parameters:
    ///   - version: nil for the highest that is loaded.
    ///   - screen: begins there, with the screens below it that a person would have passed; nil for the flow's first.
    /// - Throws: ``JourneyError/tooMany(limit:)``.
    nonisolated(nonsending) package func startJourney(
        flow: String, version: Int? = nil, input: JSONDocument? = nil, at screen: String? = nil
    ) async throws -> ShownJourney {
        fatalError("to come")
    }

    /// Starts a journey over: its stack and coordinators are released first. The journey `main` may be begun this way.
    ///
    /// - Parameter flow: nil for the one that it ran.
    /// - Returns: the journey, and whether it was not there before.
    nonisolated(nonsending) package func restartJourney(
        _ id: String, flow: String? = nil, input: JSONDocument? = nil, condition: JourneyCondition = .none
    ) async throws -> (shown: ShownJourney, isNew: Bool) {
        fatalError("to come")
    }

    /// Something happened on the screen that the client draws.
    ///
    /// - Parameter data: as the screen accepts it with the event.
    nonisolated(nonsending) package func send(
        _ event: String, data: JSONDocument? = nil, toJourney id: String, condition: JourneyCondition = .none
    ) async throws -> ShownJourney {
        fatalError("to come")
    }

    /// The same without waiting.
    ///
    /// - Returns: nil when it has to be waited for, and nothing has happened: ask the other one.
    package func sendAtOnce(
        _ event: String, data: JSONDocument? = nil, toJourney id: String, condition: JourneyCondition = .none
    ) throws -> ShownJourney? {
        fatalError("to come")
    }

    /// Goes to a screen along the shortest way that the flow allows.
    ///
    /// - Returns: the journey, and the screens of the way, the one that it ends at last.
    nonisolated(nonsending) package func navigate(
        journey id: String, to screen: String, condition: JourneyCondition = .none
    ) async throws -> (shown: ShownJourney, path: [String]) {
        fatalError("to come")
    }

    /// Gives a journey up: its coordinators go, children first, then its stack, then it is forgotten.
    nonisolated(nonsending) package func abandonJourney(
        _ id: String, condition: JourneyCondition = .none
    ) async throws {
        fatalError("to come")
    }
}
