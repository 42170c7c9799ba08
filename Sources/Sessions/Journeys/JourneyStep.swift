import JSONDocument

/// Who makes a journey move.
package enum JourneyActor: Int, Sendable, CaseIterable {
    /// The person's own client.
    case client
    case backend
    /// Nobody: a timer, a standing rule, a newer version of the flow.
    case time
    /// An operator.
    case admin
}

/// A step of a journey that was taken, for operators.
package struct JourneyStep: Sendable {
    package let time: Timestamp
    package let cause: StepCause.Kind
    /// The name of the event; of the end of a task, as the flow names it: `done.ok`.
    package let event: String?
    /// The screen; nil before the first.
    package let from: String?
    /// The screen; nil when the journey is over.
    package let to: String?
    package let actor: JourneyActor
}

/// What makes a journey take a step.
package enum StepCause: Sendable {
    case start
    case startOver
    case event(String)
    case navigation
    case task(outcome: String)
    /// A timer, a timeout, the end of the journey's or the session's time.
    case timer
    /// A standing rule, after a service was written.
    case rule
    /// A newer version of the flow.
    case version
    /// The journey has come from another session.
    case move

    /// Without the name of an event. Histories keep the raw value, as that of a ``JourneyActor``.
    package enum Kind: Int, Sendable, CaseIterable {
        case start = 1
        case startOver, event, navigation, task, timer, rule, version, move
    }

    var kind: Kind {
        switch self {
        case .start: .start
        case .startOver: .startOver
        case .event: .event
        case .navigation: .navigation
        case .task: .task
        case .timer: .timer
        case .rule: .rule
        case .version: .version
        case .move: .move
        }
    }

    var event: String? {
        switch self {
        case .event(let name): name
        // Where a bare `done` takes any outcome, a back end may send what is no name.
        case .task(let outcome): outcome.utf8.count > Self.longestOutcome ? "done" : "done.\(outcome)"
        default: nil
        }
    }

    /// Whether the journey moved by itself. Then it stays its owner's.
    var isByTime: Bool { if case .timer = self { true } else { false } }

    /// The cause and who, as one number.
    func number(by actor: JourneyActor) -> Int {
        let moves = kind == .timer || kind == .rule || kind == .version
        return kind.rawValue * Self.actors + (moves ? JourneyActor.time : actor).rawValue
    }

    /// Nil for ``origin``, and for what this version does not know.
    static func read(_ number: Int) -> (Kind, JourneyActor)? {
        let (kind, actor) = number.quotientAndRemainder(dividingBy: Self.actors)
        guard let kind = Kind(rawValue: kind), let actor = JourneyActor(rawValue: actor) else { return nil }
        return (kind, actor)
    }

    /// The number of an entry that is no step: it says from where the next one led.
    static let origin = 0
    private static let actors = 4
    private static let longestOutcome = 64
}
