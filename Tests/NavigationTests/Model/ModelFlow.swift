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
    /// What happens by itself on every screen of it and of its children.
    var timers: [Timer] = []
    var limit = Limit()

    /// The services that all flows know, with their flags as they are at first; `n` is whether the number is one. The
    /// values that screens ask for, `x` and `y`, are not there at first.
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
        /// The values that it asks for; nil for a screen that nobody passes for the person.
        var answers: [String]?
        var timers: [Timer] = []
        var timeout: Timeout?
    }

    /// Work of somebody outside.
    struct Task {
        /// `done` is under the empty name.
        var done: [String: [Move]]
        var mayGoBack = false
        /// Milliseconds.
        var timeout: Int64?
        var timers: [Timer] = []
        /// What it is told.
        var flag: String
    }

    /// A transition with a time. All times are milliseconds.
    struct Timer {
        var start: Start
        var every: Int64?
        var times: Int?
        var id: String?
        var move: Move

        enum Start {
            case after(Int64)
            /// A moment of the data: one while a flag is up, another while it is down; nil for none.
            case at(flag: String, up: Int64?, down: Int64?)
        }
    }

    /// The time of a screen. Without a move the journey expires.
    struct Timeout {
        var after: Int64
        var move: Move?
    }

    /// The time of a flow.
    struct Limit {
        var idle: Int64?
        var total: Int64?
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

        /// Whether another screen may be on top afterwards.
        var isMove: Bool { target != nil || verb != nil }
        /// Whether a link may do it.
        var isHarmless: Bool { link ?? (effects.isEmpty && isReversible) }
        /// Whether it may be done for a person whose answers are there, without its effects.
        var mayBePassed: Bool { link ?? isReversible }

        private var isReversible: Bool { verb != .setRoot && history != .invalidate }
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
        /// Fills in a value that screens ask for.
        case give(String)
        /// Empties it.
        case empty(String)
        /// Adds a word and the time to a list, which shows what was done in which order.
        case note(String)
    }

    static func name(_ state: Int) -> String { "s\(state)" }
}
