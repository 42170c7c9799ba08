import JSONDocument

extension FlowEngine {
    /// A step, and the screens that it came to, one after the other.
    public struct Navigation: Sendable {
        /// The step that goes there.
        public let step: Step
        /// States by their ids; the last is the screen that was asked for. Empty when the journey stood there already.
        public let path: [String]
        /// What was sent to get there, for one who would do the same by hand.
        public let events: [String]
    }

    /// When what was found is refused as it is done, this often another way is tried.
    private static let maximumAttempts = 8

    /// Goes to a screen the way that a person would, as one step.
    ///
    /// A way is looked for first, over events that can be sent without data, guards that hold and screens whose
    /// `requires` hold, all with the data as it is before the step: what actions do on the way opens nothing, for
    /// nobody has agreed to it. Going back is part of a way wherever the event `back` is accepted. The best way takes
    /// the fewest events other than `back`, and then the fewest screens.
    ///
    /// Then the way is gone, with all that entering, leaving and transitions do, so that guards and `requires` are asked
    /// once more, with the data as it is by then. When something is refused there, another way is looked for that does
    /// without that event on that screen.
    ///
    /// - Parameter screen: the id of a state. Of several flows with one of that id, the nearest is meant.
    /// - Throws: ``JourneyRefusal/unreachable(blockedBy:_:)``, ``JourneyRefusal/unknownScreen(_:)``, and what
    ///   ``send(_:data:to:services:now:)`` throws for a journey that is over, due or orphaned.
    public func navigate(
        _ journey: Journey, to screen: String, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Navigation {
        if journey.isActive, journey.top?.state == screen, !isDue(journey, now: now) {
            let step = Step(journey: journey, changes: [], happenings: [])
            return Navigation(step: step, path: [], events: [])
        }
        return try go(to: screen) { () throws(JourneyRefusal) in
            let renewal = renewal(of: journey)
            var run = StepRun(self, journey, services, now: now)
            if try run.open(renewal) { try run.arrive() }
            return run
        }
    }

    /// A new journey that begins in the middle: started, and then led to a screen as ``navigate(_:to:services:now:)``
    /// does it. The frames below are the ones that a person would have passed.
    public func start(
        flow: String, version: Int? = nil, id: String, input: JSONDocument = .emptyObject, at screen: String,
        services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Navigation {
        let definition = try definition(flow, version: version, for: input)
        return try go(to: screen) { () throws(JourneyRefusal) in
            var run = StepRun(self, Journey(id: id, flow: definition, now: now), services, now: now)
            try run.begin(definition, input: input)
            try run.arrive()
            return run
        }
    }

    private func go(
        to screen: String, from begin: () throws(JourneyRefusal) -> StepRun
    ) throws(JourneyRefusal) -> Navigation {
        var refused: Set<Route.Key> = []
        for attempt in 1...Self.maximumAttempts {
            var run = try begin()
            guard run.journey.isActive else { throw .finished(outcome: run.journey.outcome) }
            guard hasScreen(screen, for: run.journey) else { throw .unknownScreen(screen) }
            var search = try RouteSearch(from: &run, to: screen, without: refused)
            let route = try search.route()
            if let obstacle = run.walk(route) {
                refused.insert(obstacle.hop.key)
                guard attempt < Self.maximumAttempts else {
                    throw .unreachable(blockedBy: obstacle.hop.screen, obstacle.violations)
                }
                continue
            }
            let step = try run.finish()
            return Navigation(step: step, path: route.hops.map(\.screen), events: route.hops.map(\.event))
        }
        throw .unreachable(blockedBy: screen, [])
    }

    /// Whether a screen of that name may ever be come to from where the journey is.
    private func hasScreen(_ screen: String, for journey: Journey) -> Bool {
        var rest = journey.coordinators.compactMap { catalog.flow($0.flow, version: $0.version) }
        var seen: Set<ObjectIdentifier> = []
        while let flow = rest.popLast() {
            guard seen.insert(ObjectIdentifier(flow)).inserted else { continue }
            if flow.state(screen)?.isScreen ?? false { return true }
            for child in flow.states.lazy.compactMap(\.childFlow) {
                if let flow = catalog.flow(child.flow, version: child.version) { rest.append(flow) }
            }
        }
        return false
    }
}

extension StepRun {
    /// Goes a way hop by hop.
    ///
    /// - Returns: the first hop that was refused, or led elsewhere, and why; nil when all were gone.
    fileprivate mutating func walk(_ route: Route) -> (hop: Route.Hop, violations: [JSONViolation])? {
        event = .data(.emptyObject)
        for hop in route.hops {
            do throws(JourneyRefusal) {
                try react(to: hop.event)
                try arrive()
            } catch {
                return (hop, error.violations)
            }
            guard journey.frames.last?.state == hop.screen else {
                return (hop, [JSONViolation(pointer: "", detail: "is not where \"\(hop.event)\" leads")])
            }
        }
        return nil
    }
}
