import JSONDocument

/// The way of a `resume`: forward to a screen, as far as the screens on it are answered.
///
/// The way is searched as if every screen were answered, so that the first that is not is on it. Behind that one
/// nothing is certain, because the answers decide.
extension RouteSearch {
    /// A `resume` leads straight to its screen only where nothing else leads there, not even a way with obstacles.
    private static let detour = 1_000

    /// The hops up to the first screen that is not answered, or to the one that is looked for.
    static func wayForward(from run: inout StepRun, to target: Frame) throws(JourneyRefusal) -> [Route.Hop] {
        var search = try RouteSearch(from: &run, to: target.state, forward: target, without: [])
        guard let last = try? search.nearest() else {
            // Not from a screen: a child has ended, or a time was over.
            return [Route.Hop(event: "", screen: target.state, key: search.key("", from: 0), kind: .direct)]
        }
        var hops: [Route.Hop] = []
        for place in search.way(to: last) {
            if let obstacle = search.places[place].obstacle {
                if case .unanswered = obstacle, !hops.isEmpty { break }
                throw .guardNotMet(search.explain(obstacle))
            }
            hops.append(search.hop(to: place))
            if search.isOpen(place) { break }
        }
        return hops
    }

    /// Whether a `resume` stops at a place. It does not stop where it begins: that answer has just been given.
    func isOpen(_ place: Int) -> Bool { forward != nil && places[place].origin != nil && !isAnswered(place) }

    private func isAnswered(_ place: Int) -> Bool {
        let frame = stacks[places[place].top]
        guard let screen = coordinators[frame.coordinator].flow.screen(of: frame)?.screen else { return false }
        return scope(of: frame.coordinator, with: frame.params).isAnswered(screen.answers)
    }

    /// Adds the ways from a screen as if it were answered, and the straight way of a transition that resumes.
    ///
    /// - Parameter isAnswered: the first place is, for its answer has just been given.
    mutating func resume(_ screen: Screen, _ reaction: Reaction, isAnswered: Bool, from origin: Int) {
        let isFirst = places[origin].origin == nil
        let transitions = reaction.rule.transitions
        if !isAnswered {
            for transition in transitions.filter({ $0.nav != .resume && $0.moves && $0.gives(screen.answers) }) {
                let isKnown = transition.guard.map { scope(of: reaction.coordinator).test($0) == .holds } ?? true
                let obstacle: RouteObstacle? = isFirst && isKnown ? nil : .unanswered
                for arrival in arrivals(by: transition, of: reaction.coordinator, on: places[origin].top, obstacle) {
                    insert(arrival, from: origin, event: reaction.rule.event, .passed)
                }
            }
        }
        guard let forward, transitions.contains(where: { $0.nav == .resume }),
            let coordinator = coordinators.firstIndex(where: { $0.wanted != nil }),
            let wanted = coordinators[coordinator].wanted
        else { return }
        var frame = frame(of: wanted, coordinator)
        frame.params = forward.params
        let top = stacks.put(frame, on: places[origin].top)
        insert(
            Arrival(top: top, obstacle: arrival(on: top).obstacle), from: origin, event: reaction.rule.event, .direct,
            detour: Self.detour)
    }
}
