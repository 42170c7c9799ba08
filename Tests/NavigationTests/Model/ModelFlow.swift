import Navigation

/// A flow as the model knows it: nothing but what it says.
struct ModelFlow {
    var id: String
    var initial: Int
    var states: [State]
    /// What may happen on every screen of it and of its children.
    var events: [String: [Move]]
    /// What happens without an event, on every screen of it and of its children.
    var always: [Move] = []
    var entry: [Effect]
    var exit: [Effect]
    /// The services of which each coordinator that runs it has its own.
    var owns: [String] = []

    /// The services that all flows know, with their flags as they are at first; `n` is whether the number is one.
    static let services = ["d": ["a": true, "b": false], "k": ["c": true, "n": false]]

    /// The service that has a flag.
    static func service(of flag: String) -> String { services["d"]?[flag] == nil ? "k" : "d" }

    enum State {
        case screen(Screen)
        case choice([Move])
        /// `done` is under the empty name.
        case flow(Int, done: [String: [Move]])
        case task(Task)
        case final(outcome: String)
    }

    struct Screen {
        var events: [String: [Move]] = [:]
        var requires: [Condition] = []
        var otherwise: Move?
        var always: [Move] = []
        var entry: [Effect] = []
        var exit: [Effect] = []
        var back = Back.allowed
    }

    /// Work of somebody outside.
    struct Task {
        /// `done` is under the empty name.
        var done: [String: [Move]]
        var mayGoBack = false
        /// Milliseconds.
        var timeout: Int64?
        /// What it is told.
        var flag: String
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
        /// What the new frame keeps.
        var number: Int?
        var link: Bool?

        /// Whether a link may do it.
        var isHarmless: Bool { link ?? (effects.isEmpty && verb != .setRoot && history != .invalidate) }
    }

    indirect enum Condition {
        /// Whether a flag is up, or down.
        case flag(String, wanted: Bool)
        /// Whether the number is less than five, which it always is; undecided while it is a text.
        case isSmall
        /// Whether the number is five or more, which it never is; undecided while it is a text.
        case isLarge
        case not(Condition)
        case all([Condition])
        case any([Condition])
    }

    enum Effect {
        case set(String, Bool)
        /// Makes the number a number if flag `a` is up, else a text.
        case reckon
        /// Sets a flag to what the task has put out; down when that was nothing.
        case take(String)
        case clear(String)
        case remove(String)
        /// Calls the command that turns a flag over, and sets `c` to what it was.
        case turn(String)
        /// Adds a word to a list, which shows what was done in which order.
        case note(String)
    }

    static func name(_ state: Int) -> String { "s\(state)" }
}
