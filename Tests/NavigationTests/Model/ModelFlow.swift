import Navigation

/// A flow as the model knows it: nothing but what it says.
struct ModelFlow {
    var id: String
    var initial: Int
    var states: [State]
    /// What may happen on every screen of it and of its children.
    var events: [String: [Move]]
    var entry: [Effect]
    var exit: [Effect]

    enum State {
        case screen(Screen)
        case choice([Move])
        /// `done` is under the empty name.
        case flow(Int, done: [String: [Move]])
        /// `done` is under the empty name.
        case task(done: [String: [Move]])
        case final(outcome: String)
    }

    struct Screen {
        var events: [String: [Move]] = [:]
        var requires: [Condition] = []
        var entry: [Effect] = []
        var exit: [Effect] = []
        var back = Back.allowed
    }

    enum Back {
        case allowed, forbidden
        case target(Int)
    }

    struct Move {
        var condition: Condition?
        var target: Int?
        var verb: NavigationVerb?
        var effects: [Effect] = []
        var history = HistoryPolicy.preserve
    }

    /// Whether a flag is up, or down.
    struct Condition {
        var flag: String
        var wanted: Bool
    }

    enum Effect {
        case set(String, Bool)
        /// Adds a word to a list, which shows what was done in which order.
        case note(String)
    }

    static func name(_ state: Int) -> String { "s\(state)" }
}
