import JSONDocument

/// Looks for the way from where a journey stands to a screen.
///
/// The search goes from screen to screen, nearest first, with the data as it is: it tests guards and `requires`, and
/// runs no actions. It visits each screen of each coordinator once with the same params, with the stack of the nearest
/// way there. The engine then takes the way that was found, and may be refused after all; see
/// ``FlowEngine/navigate(_:to:params:isByOperator:services:now:)``.
///
/// The nearest way takes the fewest events, and of these ways the fewest screens. Going back does not count as an
/// event, so the way keeps the frames that it has in common with the stack.
///
/// Hops that are not possible come last. So when no way is possible, the search finds the way with the fewest
/// obstacles, and reports the first of them.
struct RouteSearch {
    /// A coordinator of the journey, or one that would be started on the way. It is known by its index in the search.
    struct Coordinator {
        /// The journey's number of it; one that it does not have for a coordinator that would be started.
        let id: Int
        let flow: FlowDefinition
        let parent: Int?
        /// The state of the parent's flow.
        let startedBy: Int?
        let input: JSONDocument
        /// Which services it sees that coordinators own.
        let owners: ServiceOwners
        /// The state of the screen that is looked for, if this flow has one of that name.
        var wanted: Int?
        var isVisited: [Bool]
        /// The params with which screens were visited, by state; only of those whose frames have any.
        var visitedParams: [Int: Set<String>] = [:]

        /// Visits a screen.
        ///
        /// - Returns: whether it was visited already with these params, or with as many others as `limit` says.
        mutating func visit(_ state: Int, with params: JSONDocument?, limit: Int) -> Visit {
            guard isVisited[state] else {
                isVisited[state] = true
                if let params { visitedParams[state] = [params.description] }
                return .first
            }
            guard let params, visitedParams[state]?.contains(params.description) != true else { return .again }
            guard visitedParams[state, default: []].count < limit else { return .tooMany }
            visitedParams[state, default: []].insert(params.description)
            return .first
        }

        /// Whether a visit is one already made.
        func hasVisited(_ state: Int, with params: JSONDocument?) -> Bool {
            guard isVisited[state], let params else { return isVisited[state] }
            return visitedParams[state]?.contains(params.description) == true
        }
    }

    enum Visit {
        case first, again, tooMany
    }

    /// A screen that a hop leads to.
    struct Place {
        /// The stack on which the screen is the top frame.
        let top: Int
        /// The place before; nil for the first.
        let origin: Int?
        let event: String
        /// What the event is sent with; nil for nothing.
        var data: JSONDocument?
        let kind: Route.Hop.Kind
        /// Whether going back has undone something on the way, so that no link leads on from there.
        var undoes = false
        let obstacle: RouteObstacle?
        let distance: RouteQueue.Distance
    }

    /// A choice that a hop has reached. Ways through choices may part and meet again: each is passed once.
    struct Crossing: Hashable {
        let coordinator: Int
        let state: Int
        let verb: NavigationVerb
        let top: Int?
        /// Whether there was no obstacle so far: a way with one must not stop a way without.
        let isFree: Bool
    }

    /// Enough for flows of 100,000 screens. Many flows that all start each other have more places.
    private static let maximumPlaces = 200_000
    static let maximumCoordinators = 1000
    /// With how many params a screen is visited: more persons than a form asks one by one. A flow that counts in its
    /// params has no end of them.
    static let mostParams = 100

    let screen: String
    /// What is among the params of the frame that is looked for; nil for a frame of any.
    let params: JSONDocument?
    /// With how many params a screen is visited.
    private let mostParams: Int
    /// Whether a screen was not visited because it was with too many params.
    private(set) var isCut = false
    /// The frame that a `resume` goes forward to; nil for a link.
    let forward: Frame?
    /// Whether neither a screen's `back` nor a transition's `link` closes a way.
    let isByOperator: Bool
    let catalog: FlowCatalog
    let services: StepServices
    let now: Int64
    let refused: Set<Route.Key>
    let stacks = RouteStacks()
    var coordinators: [Coordinator] = []
    /// The child flow or the task that no way leads through, as the coordinator and the state.
    private(set) var closed: (coordinator: Int, state: Int)?
    /// The choices that the current hop has reached.
    var crossings: Set<Crossing> = []
    /// The number of coordinators that the journey has; the others would be started on the way.
    private(set) var standing = 0
    private(set) var places: [Place] = []
    private var queue = RouteQueue()

    /// - Parameter refused: hops that the engine has tried and refused.
    init(
        from run: inout StepRun, to screen: String, with params: JSONDocument? = nil, forward: Frame? = nil,
        isByOperator: Bool = false, mostParams: Int = Self.mostParams, without refused: Set<Route.Key>
    ) throws(JourneyRefusal) {
        self.screen = screen
        self.params = params
        self.mostParams = mostParams
        self.forward = forward
        self.isByOperator = isByOperator
        catalog = run.engine.catalog
        services = run.services
        now = run.now
        self.refused = refused
        var known: [Int: Int] = [:]
        for coordinator in run.journey.coordinators {
            let flow = try run.flow(of: coordinator.id)
            let parent = coordinator.parent.flatMap { known[$0] }
            let startedBy = parent.flatMap { parent in
                coordinator.startedBy.flatMap { coordinators[parent].flow.place(of: $0) }
            }
            known[coordinator.id] = coordinators.count
            add(flow, id: coordinator.id, parent: parent, startedBy: startedBy, input: coordinator.input)
            if let forward {
                let isIt = forward.coordinator == coordinator.id
                coordinators[coordinators.count - 1].wanted = isIt ? flow.place(of: screen) : nil
            }
        }
        standing = coordinators.count
        var top: Int?
        for frame in run.journey.frames {
            guard let coordinator = known[frame.coordinator] else { continue }
            var copy = Frame(
                coordinator: coordinator, state: frame.state, presentation: frame.presentation, mark: frame.mark,
                params: frame.params)
            copy.knownPlace = Int32(clamping: coordinators[coordinator].flow.place(of: frame) ?? -1)
            top = stacks.put(copy, on: top)
        }
        if let top { insert(Place(top: top, origin: nil, event: "", kind: .sent, obstacle: nil, distance: .init())) }
    }

    /// The nearest way.
    ///
    /// - Throws: ``JourneyRefusal/unreachable(blockedBy:_:)``.
    mutating func route() throws(JourneyRefusal) -> Route {
        let last = try nearest()
        let way = way(to: last)
        for place in way {
            if let obstacle = places[place].obstacle {
                throw .unreachable(blockedBy: stacks[places[place].top].state, explain(obstacle))
            }
        }
        return Route(hops: way.map(hop))
    }

    /// Closes the state that has a transition for its end.
    mutating func close(_ transition: (coordinator: Int, place: String)?) {
        guard let transition, let coordinator = coordinators.firstIndex(where: { $0.id == transition.coordinator }),
            let tokens = JSONPointer(parsing: transition.place)?.tokens, tokens.count > 1, tokens[0] == "states",
            let state = coordinators[coordinator].flow.place(of: tokens[1])
        else { return }
        closed = (coordinator, state)
    }

    /// Whether the search ended because there are too many places, and not because there are no more.
    var isExhausted: Bool { places.count >= Self.maximumPlaces }

    /// The nearest place that is looked for.
    mutating func nearest() throws(JourneyRefusal) -> Int {
        while let place = queue.removeNearest() {
            let frame = stacks[places[place].top]
            if isWanted(frame) { return place }
            guard let state = state(of: frame) else { continue }
            switch coordinators[frame.coordinator].visit(state, with: frame.params, limit: mostParams) {
            case .first: break
            case .again: continue
            case .tooMany:
                isCut = true
                continue
            }
            guard !isExhausted else { break }
            expand(place)
        }
        throw .unreachable(blockedBy: screen, [JSONViolation(pointer: "", detail: "there is no way that leads there")])
    }

    /// Whether a frame is what is looked for.
    func isWanted(_ frame: Frame) -> Bool {
        guard let wanted = coordinators[frame.coordinator].wanted, wanted == state(of: frame) else { return false }
        return frame.has(params)
    }

    /// The places on the way, without the first.
    func way(to last: Int) -> [Int] {
        sequence(first: last) { places[$0].origin }.filter { places[$0].origin != nil }.reversed()
    }

    func hop(to place: Int) -> Route.Hop {
        Route.Hop(
            event: places[place].event, data: places[place].data, screen: stacks[places[place].top].state,
            key: key(places[place].event, from: places[place].origin ?? 0), kind: places[place].kind)
    }

    func key(_ event: String, from origin: Int) -> Route.Key {
        let frame = stacks[places[origin].top]
        return Route.Key(coordinator: frame.coordinator, state: frame.state, event: event)
    }

    @discardableResult
    mutating func add(
        _ flow: FlowDefinition, id: Int? = nil, parent: Int?, startedBy: Int?, input: JSONDocument
    ) -> Int {
        let wanted = forward == nil ? flow.place(of: screen).flatMap { flow.states[$0].isScreen ? $0 : nil } : nil
        let id = id ?? (1 << 32) + coordinators.count
        var owners = parent.map { coordinators[$0].owners } ?? ServiceOwners()
        let names = flow.ownership.services
        if !names.isEmpty { owners.levels.insert(.init(coordinator: id, flow: flow.id, names: names), at: 0) }
        coordinators.append(
            Coordinator(
                id: id, flow: flow, parent: parent, startedBy: startedBy, input: input, owners: owners, wanted: wanted,
                isVisited: Array(repeating: false, count: flow.states.count)))
        return coordinators.count - 1
    }

    /// Queues a place, unless its screen was visited already.
    mutating func insert(_ place: Place) {
        let frame = stacks[place.top]
        guard let state = state(of: frame),
            !coordinators[frame.coordinator].hasVisited(state, with: frame.params) || isWanted(frame)
        else { return }
        places.append(place)
        queue.insert(places.count - 1, at: place.distance)
    }

    /// The index of a frame's state; nil for a screen that the flow does not have any more.
    func state(of frame: Frame) -> Int? { coordinators[frame.coordinator].flow.place(of: frame) }

    /// - Parameter params: of the frame that is looked at.
    func scope(
        of coordinator: Int, event: DataScope.EventData = .unknown, with params: JSONDocument? = nil
    ) -> DataScope {
        DataScope(
            definition: .flow(coordinators[coordinator].flow), services: services,
            owners: coordinators[coordinator].owners, event: event,
            input: coordinators[coordinator].input, output: nil, frame: params, now: now)
    }
}

/// A way from where a journey stands to a screen: the events that lead there, in order.
struct Route {
    struct Hop {
        let event: String
        /// What it is sent with; nil for nothing.
        var data: JSONDocument?
        /// The screen that the event leads to.
        let screen: String
        let key: Key
        let kind: Kind

        enum Kind {
            /// The event is sent.
            case sent
            /// The screen is answered, and passed without the actions of the event.
            case passed
            /// Straight to the screen that a `resume` names.
            case direct
        }
    }

    /// Identifies a hop: where it begins and what it is.
    struct Key: Hashable {
        let coordinator: Int
        let state: String
        let event: String
    }

    let hops: [Hop]
}

/// Why a hop is not possible. It is put into words only for the report, with the params of the frame that is looked at.
enum RouteObstacle {
    /// The transition's guard does not hold, or depends on the event's data.
    case conditions(Transition, of: Int, with: JSONDocument?)
    /// An earlier transition in the list would be taken.
    case shadowed
    /// The `requires` of the screen do not hold.
    case requires(PreparedScreen, of: Int, with: JSONDocument?)
    /// The event needs data.
    case data(ShapeRule)
    /// The transition changes what a link must not.
    case damage
    /// The screen before is not answered.
    case unanswered
    /// An action on the way needs a value that is missing.
    case value(String)
    case violations([JSONViolation])
    case noWayBack
    /// The engine has tried the hop and refused it.
    case refused
}
