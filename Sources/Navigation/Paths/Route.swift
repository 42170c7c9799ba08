import JSONDocument

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
