/// The way of a `resume`: forward to a screen, as far as nobody is asked.
///
/// The way is searched as if every screen were answered, so that the first that is not is on it. Behind that one
/// nothing is certain, because the answers decide.
extension RouteSearch {
    /// A `resume` leads straight to its screen only where nothing else leads there, not even a way with obstacles. An
    /// operator's way takes a transition that does damage only where no other leads there.
    static let detour = 1_000

    /// The hops up to the first obstacle, or the first screen that wants the person, or the one that is looked for.
    ///
    /// - Parameter ended: the transition of a child or a task that has just ended, which is on no way.
    static func wayForward(
        from run: inout StepRun, to target: Frame, after ended: (coordinator: Int, place: String)?
    ) throws(JourneyRefusal) -> [Route.Hop] {
        var search = try RouteSearch(from: &run, to: target.state, forward: target, without: [])
        search.close(ended)
        var found = try? search.nearest()
        if found == nil, search.isCut {
            // Where screens count on without end, each is looked at once.
            search = try RouteSearch(from: &run, to: target.state, forward: target, mostParams: 1, without: [])
            search.close(ended)
            found = try? search.nearest()
        }
        guard let last = found else {
            return search.isExhausted
                ? [] : [Route.Hop(event: "", screen: target.state, key: search.key("", from: 0), kind: .direct)]
        }
        var hops: [Route.Hop] = []
        for place in search.way(to: last) {
            guard search.places[place].obstacle == nil else { break }
            hops.append(search.hop(to: place))
            if search.isOpen(place) { break }
        }
        return hops
    }

    /// Whether a `resume` stops at a place, because its screen wants the person. It does not stop where it begins: the
    /// person has just been there.
    func isOpen(_ place: Int) -> Bool {
        guard forward != nil, places[place].origin != nil else { return false }
        let frame = stacks[places[place].top]
        guard let screen = coordinators[frame.coordinator].flow.screen(of: frame)?.screen else { return false }
        return !scope(of: frame.coordinator, with: frame.params).isAnswered(screen.answers)
    }

    /// Adds the ways from a screen that wants the person, as if it were answered: whatever its guards, actions and
    /// data.
    mutating func leadOn(by reaction: Reaction, from origin: Int) {
        for transition in reaction.rule.transitions(forward: true) where transition.moves {
            let top = places[origin].top
            for arrival in arrivals(by: transition, of: reaction.coordinator, on: top, .unanswered) {
                insert(arrival, from: origin, event: reaction.rule.event, nil, .passed)
            }
        }
    }

    /// Adds the straight way of a transition that resumes.
    mutating func goStraight(by reaction: Reaction, from origin: Int) {
        guard let forward, reaction.rule.transitions.contains(where: { $0.nav == .resume }),
            let coordinator = coordinators.firstIndex(where: { $0.wanted != nil }),
            let wanted = coordinators[coordinator].wanted
        else { return }
        let frame = Frame(of: wanted, in: coordinators[coordinator].flow, coordinator, with: forward.params)
        let top = stacks.put(frame, on: places[origin].top)
        let obstacle = isOpen(origin) ? .unanswered : arrival(on: top).obstacle
        insert(
            Arrival(top: top, obstacle: obstacle), from: origin, event: reaction.rule.event, nil, .direct,
            detour: Self.detour)
    }
}
