import JSONDocument

/// Looks for the way from where a journey stands to a screen.
///
/// The search goes from screen to screen, nearest first, with the data as it is: it looks at guards and at what screens
/// require, and does no actions. A place is a screen of a coordinator; the stack that it is first come to with is the
/// one that counts. What is found is done for real afterwards, and may then be refused after all; see
/// ``FlowEngine/navigate(_:to:services:now:)``.
///
/// Nearest is what takes the fewest events, and of those ways the one with the fewest screens. Going back does not
/// count as an event: so the frames that a way has in common with the stack are kept.
///
/// Hops that are not possible are looked at last. So when the screen cannot be come to, the way to it with the fewest
/// obstacles is known, and what the first of them is.
struct RouteSearch {
    /// A coordinator of the journey, or one that would be started on the way.
    struct Coordinator {
        let flow: FlowDefinition
        /// A place in the coordinators of the search.
        let parent: Int?
        /// A place in the states of the parent's flow.
        let startedBy: Int?
        let input: JSONDocument
        /// The place of the screen that is looked for, if this flow has one of that name.
        let wanted: Int?
        var isVisited: [Bool]
        /// Whether named guards hold, as far as that was asked.
        var verdicts: [Verdict?]
    }

    struct Place {
        /// Of the stack that it is come to with.
        let top: Int
        /// The place that it is come to from; nil for the first.
        let origin: Int?
        let event: String
        let obstacle: RouteObstacle?
        let distance: RouteQueue.Distance
    }

    /// A choice that a hop has come to. Ways through choices may part and meet again: each is gone through once.
    struct Crossing: Hashable {
        let coordinator: Int
        let state: Int
        let verb: NavigationVerb
        let top: Int?
        /// Whether nothing was in the way so far: who is stopped on one way may not stop another.
        let isFree: Bool
    }

    /// Enough for flows of a hundred thousand screens. Many flows that all start each other have more places.
    private static let maximumPlaces = 200_000
    static let maximumCoordinators = 1000

    let screen: String
    let catalog: FlowCatalog
    let services: StepServices
    let now: Int64
    let refused: Set<Route.Key>
    var coordinators: [Coordinator] = []
    var stack = RouteStack()
    /// Those of the hop that is being looked at.
    var crossings: Set<Crossing> = []
    /// How many coordinators there are already; those behind would be started on the way.
    private(set) var standing = 0
    private(set) var places: [Place] = []
    private var queue = RouteQueue()

    /// - Parameter refused: hops that are known not to work.
    init(from run: inout StepRun, to screen: String, without refused: Set<Route.Key>) throws(JourneyRefusal) {
        self.screen = screen
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
            add(flow, parent: parent, startedBy: startedBy, input: coordinator.input)
        }
        standing = coordinators.count
        var top: Int?
        for frame in run.journey.frames {
            guard let coordinator = known[frame.coordinator] else { continue }
            let state = coordinators[coordinator].flow.place(of: frame.state)
            top = stack.add(
                RouteStack.Frame(
                    coordinator: coordinator, state: state, presentation: frame.presentation, mark: frame.mark,
                    below: top))
        }
        if let top { insert(Place(top: top, origin: nil, event: "", obstacle: nil, distance: .init())) }
    }

    /// The nearest way.
    ///
    /// - Throws: ``JourneyRefusal/unreachable(blockedBy:_:)``.
    mutating func route() throws(JourneyRefusal) -> Route {
        while let place = queue.removeNearest() {
            let frame = stack[places[place].top]
            guard let state = frame.state, !coordinators[frame.coordinator].isVisited[state] else { continue }
            coordinators[frame.coordinator].isVisited[state] = true
            if coordinators[frame.coordinator].wanted == state {
                return try finish(at: place)
            }
            guard places.count < Self.maximumPlaces else { break }
            expand(place)
        }
        throw .unreachable(blockedBy: screen, [JSONViolation(pointer: "", detail: "there is no way that leads there")])
    }

    private func finish(at last: Int) throws(JourneyRefusal) -> Route {
        var way: [Int] = []
        var place = last
        while let origin = places[place].origin {
            way.append(place)
            place = origin
        }
        way.reverse()
        if let blocked = way.first(where: { places[$0].obstacle != nil }), let obstacle = places[blocked].obstacle {
            throw .unreachable(blockedBy: name(of: blocked), explain(obstacle))
        }
        let hops = way.map { place in
            Route.Hop(event: places[place].event, screen: name(of: place), key: key(of: place))
        }
        return Route(hops: hops)
    }

    /// What the hop to a place is known by.
    private func key(of place: Int) -> Route.Key {
        let origin = stack[places[places[place].origin ?? 0].top]
        return Route.Key(coordinator: origin.coordinator, state: origin.state ?? 0, event: places[place].event)
    }

    private func name(of place: Int) -> String {
        let frame = stack[places[place].top]
        return frame.state.map { coordinators[frame.coordinator].flow.states[$0].id } ?? ""
    }

    // MARK: - For those who find places

    @discardableResult
    mutating func add(_ flow: FlowDefinition, parent: Int?, startedBy: Int?, input: JSONDocument) -> Int {
        let wanted = flow.place(of: screen).flatMap { flow.states[$0].isScreen ? $0 : nil }
        coordinators.append(
            Coordinator(
                flow: flow, parent: parent, startedBy: startedBy, input: input, wanted: wanted,
                isVisited: Array(repeating: false, count: flow.states.count),
                verdicts: Array(repeating: nil, count: flow.guards.count)))
        return coordinators.count - 1
    }

    /// A place that was found, unless it was looked at already.
    mutating func insert(_ place: Place) {
        let frame = stack[place.top]
        guard let state = frame.state, !coordinators[frame.coordinator].isVisited[state] else { return }
        places.append(place)
        queue.insert(places.count - 1, at: place.distance)
    }

    func scope(of coordinator: Int) -> DataScope {
        DataScope(
            services: services, event: .unknown, input: coordinators[coordinator].input, output: nil, now: now)
    }
}

/// A way from where a journey stands to a screen: the events that lead there, one after the other.
struct Route {
    struct Hop {
        let event: String
        /// The screen that it leads to.
        let screen: String
        /// What a hop that was refused is known by: where it begins and what it is.
        let key: Key
    }

    struct Key: Hashable {
        let coordinator: Int
        let state: Int
        let event: String
    }

    let hops: [Hop]
}

/// What is in the way of a hop, to be put into words only when somebody asks.
enum RouteObstacle {
    /// The guard does not hold, or depends on the data of the event.
    case guardian(Guard, of: Int)
    /// A transition before it in the list is the one that would be taken.
    case shadowed
    /// What the screen requires does not hold.
    case requires(state: Int, of: Int)
    /// The event needs data.
    case data(ShapeRule)
    /// There is no value for what is done on the way.
    case value(String)
    case violations([JSONViolation])
    case noWayBack
    /// It was tried and refused.
    case refused
}
