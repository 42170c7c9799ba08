/// A state in which somebody outside does a piece of work, such as a back end, while the client shows a busy screen.
public final class TaskState: Sendable {
    /// The name under which the work is fetched or sent.
    public let task: String
    /// Makes the input of the task; nil is an empty object.
    public let input: ValueTemplate?
    /// What is shown meanwhile: a screen without events of its own.
    public let screen: Screen
    /// How often the work is tried.
    public let retry: TaskRetry
    /// The transitions for each outcome; for a nil outcome those of all the others.
    public let ends: [ChildEnd]

    /// The outcome after the last attempt has failed.
    public static let failed = "failed"
    /// The outcome when the time is over.
    public static let timeout = "timeout"

    init(task: String, input: ValueTemplate?, screen: Screen, retry: TaskRetry, ends: [ChildEnd]) {
        self.task = task
        self.input = input
        self.screen = screen
        self.retry = retry
        self.ends = ends
    }

    /// The transitions for an outcome: those of `done.<outcome>` if the file has them, else those of `done`; nil when
    /// there are none. Unlike the end of a child flow, a failure is covered by `done`, too: the journey must be able to
    /// go on.
    public func transitions(after outcome: String) -> [Transition]? {
        (ends.first { $0.outcome == outcome } ?? ends.first { $0.outcome == nil })?.transitions
    }

    /// The outcomes that the file names.
    public var outcomes: [String] { ends.compactMap(\.outcome) }
}

/// How often a task is tried, and how long after a failure the next attempt may begin.
public struct TaskRetry: Sendable, Equatable {
    /// The most attempts.
    public let attempts: Int
    /// Milliseconds between the first failure and the second attempt.
    public let after: Int64
    /// Each further wait is this many times longer.
    public let factor: Double

    /// A policy; times are milliseconds.
    public init(attempts: Int, after: Int64, factor: Double) {
        self.attempts = attempts
        self.after = after
        self.factor = factor
    }

    /// One attempt.
    public static let never = TaskRetry(attempts: 1, after: 0, factor: 1)

    /// How long to wait after a failure, in milliseconds: a day at most.
    ///
    /// - Parameter attempt: the number of the attempt that failed. The first is 1.
    public func delay(afterAttempt attempt: Int) -> Int64 {
        var delay = Double(after)
        for _ in 1..<max(1, attempt) where delay < Self.longestDelay { delay *= factor }
        return Int64(min(delay, Self.longestDelay))
    }

    private static let longestDelay = 86_400_000.0
}
