import JSONDocument

extension FlowEngine {
    /// A step along a way, and the screens on that way.
    public struct Navigation: Sendable {
        /// The step, which combines those of all events.
        public let step: Step
        /// The ids of the screens in order; the last is the one that was asked for. Empty when the journey was there.
        public let path: [String]
        /// The events in order. Sending them one by one has the same effect.
        public let events: [String]
    }

    /// How many ways are tried, each after the engine has refused the one before.
    private static let maximumAttempts = 8

    /// Moves a journey to a screen on the way that a person could take, as one step.
    ///
    /// First a way is searched: over events that can be sent without data, guards that hold and screens whose
    /// `requires` hold, all with the data before the step. Actions on the way do not open anything, because the user
    /// has not agreed to them. Going back is part of a way wherever the event `back` is accepted. The best way takes
    /// the fewest events other than `back`, and then the fewest screens.
    ///
    /// Then the events of the way are sent, with all effects. Guards and `requires` are tested again, with the data of
    /// that moment. When one is refused, another way is searched, without that event on that screen.
    ///
    /// - Parameters:
    ///   - screen: the id of a state. When several flows have one of that id, the nearest is meant.
    ///   - params: what the frame must have among its params. An event that makes a frame of what it is sent with is
    ///     sent with that. Nil for a frame of any.
    ///   - isByOperator: whether, if there is no such way, one is searched that a screen's `back` or a transition's
    ///     `link` closes to others. Then the actions on the way run, as when a person sends the events. All else holds:
    ///     guards, `requires`, data that an event needs, frames that are invalidated, events that only back ends send.
    /// - Throws: ``JourneyRefusal/unreachable(blockedBy:_:)``, ``JourneyRefusal/unknownScreen(_:)``,
    ///   ``JourneyRefusal/paramsInvalid(_:)``, and what ``send(_:data:to:services:now:)`` throws for a journey that is
    ///   over, due or orphaned.
    public func navigate(
        _ journey: Journey, to screen: String, params: JSONDocument? = nil, isByOperator: Bool = false,
        services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Navigation {
        let params = params == .emptyObject ? nil : params
        if journey.isActive, journey.top?.state == screen, journey.top?.has(params) == true, !isDue(journey, now: now) {
            let step = Step(journey: journey, changes: [])
            return Navigation(step: step, path: [], events: [])
        }
        func begin(with work: ListWork) throws(JourneyRefusal) -> StepRun {
            let renewal = renewal(of: journey)
            var run = StepRun(self, journey, services, now: now)
            run.services.work = work
            if try run.open(renewal) { try run.arrive() }
            return run
        }
        do throws(JourneyRefusal) {
            return try go(to: screen, with: params, from: begin)
        } catch {
            // A way that does no damage is the better one.
            guard isByOperator, case .unreachable = error else { throw error }
            return try go(to: screen, with: params, isByOperator: true, from: begin)
        }
    }

    /// Starts a new journey in the middle: starts it, and then moves it to a screen as ``navigate(_:to:services:now:)``
    /// does. The frames below are those of a person who has walked there.
    public func start(
        flow: String, version: Int? = nil, id: String, input: JSONDocument = .emptyObject, at screen: String,
        params: JSONDocument? = nil, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Navigation {
        let definition = try definition(flow, version: version, for: input)
        return try go(to: screen, with: params == .emptyObject ? nil : params) { (work) throws(JourneyRefusal) in
            var run = StepRun(self, Journey(id: id, flow: definition, now: now), services, now: now)
            run.services.work = work
            try run.begin(definition, input: input)
            try run.arrive()
            try run.stand()
            return run
        }
    }

    private func go(
        to screen: String, with params: JSONDocument?, isByOperator: Bool = false,
        from begin: (ListWork) throws(JourneyRefusal) -> StepRun
    ) throws(JourneyRefusal) -> Navigation {
        var refused: Set<Route.Key> = []
        // All attempts are one step.
        var work = ListWork()
        for attempt in 1...Self.maximumAttempts {
            var run = try begin(work)
            defer { work = run.services.work }
            guard run.journey.isActive else { throw .finished(outcome: run.journey.outcome) }
            let flows = flows(for: run.journey)
            guard flows.contains(where: { $0.state(screen)?.isScreen ?? false }) else { throw .unknownScreen(screen) }
            if let params { try check(params, of: screen, in: flows) }
            var search = try RouteSearch(
                from: &run, to: screen, with: params, isByOperator: isByOperator, without: refused)
            let route = try search.route()
            // What cannot be decided is on no way.
            run.services.overwork = nil
            if let obstacle = run.walk(route, as: .link(isByOperator: isByOperator)) {
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

    /// The flows that the journey runs, or could start.
    private func flows(for journey: Journey) -> [FlowDefinition] {
        var rest = journey.coordinators.compactMap { catalog.flow($0.flow, version: $0.version) }
        var seen: Set<ObjectIdentifier> = []
        var flows: [FlowDefinition] = []
        while let flow = rest.popLast() {
            guard seen.insert(ObjectIdentifier(flow)).inserted else { continue }
            flows.append(flow)
            for child in flow.states.lazy.compactMap(\.childFlow) {
                if let flow = catalog.flow(child.flow, version: child.version) { rest.append(flow) }
            }
        }
        return flows
    }
}

extension StepRun {
    /// Sends the events of a way.
    ///
    /// - Returns: the first hop that was refused, or led to another screen, and why; nil when there is none.
    fileprivate mutating func walk(
        _ route: Route, as purpose: Purpose
    ) -> (hop: Route.Hop, violations: [JSONViolation])? {
        self.purpose = purpose
        isGoingBack = route.hops.allSatisfy { $0.event == EventRule.back }
        defer { (self.purpose, isGoingBack) = (.event(.client), false) }
        for hop in route.hops {
            do throws(JourneyRefusal) {
                event = .data(hop.data ?? .emptyObject)
                if hop.kind == .passed {
                    try pass(by: hop.event)
                } else {
                    try react(to: hop.event, hasData: hop.data != nil)
                }
                try arrive()
                try stand()
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
