import JSONDocument

extension Journey {
    /// What a journey does not have while it waits for a person, mostly. Behind one reference: steps copy journeys, and
    /// a copy counts every reference.
    struct Extras: Sendable, Equatable {
        var outcome: String?
        var output: JSONDocument?
        var formerInput: JSONDocument?
        var task: PendingTask?
        var owned: [OwnedService] = []
        var timers: PassedTimers?
        var message: SaidText?

        /// Nil when there is none of it.
        var boxed: ExtrasBox? {
            let isEmpty =
                outcome == nil && output == nil && formerInput == nil && task == nil && owned.isEmpty && timers == nil
                && message == nil
            return isEmpty ? nil : ExtrasBox(self)
        }
    }

    final class ExtrasBox: Sendable, Equatable {
        fileprivate let extras: Extras

        fileprivate init(_ extras: Extras) { self.extras = extras }

        static func == (one: ExtrasBox, other: ExtrasBox) -> Bool { one.extras == other.extras }
    }

    private var extras: Extras {
        get { box?.extras ?? Extras() }
        set { box = newValue.boxed }
    }

    /// The outcome of a finished journey.
    public internal(set) var outcome: String? {
        get { box?.extras.outcome }
        set { extras.outcome = newValue }
    }

    /// The output of a finished journey.
    public internal(set) var output: JSONDocument? {
        get { box?.extras.output }
        set { extras.output = newValue }
    }

    /// What the flow of a journey that is over was given, unless that was an empty object: to start it again.
    public internal(set) var formerInput: JSONDocument? {
        get { box?.extras.formerInput }
        set { extras.formerInput = newValue }
    }

    /// The work outside that the journey waits for.
    public internal(set) var task: PendingTask? {
        get { box?.extras.task }
        set { extras.task = newValue }
    }

    /// What coordinators own and somebody has written, oldest first.
    public internal(set) var owned: [OwnedService] {
        get { box?.extras.owned ?? [] }
        set { extras.owned = newValue }
    }

    /// What the last step tells the person; nil for nothing.
    package internal(set) var message: SaidText? {
        get { box?.extras.message }
        set { extras.message = newValue }
    }

    package var hasMessage: Bool { box?.extras.message != nil }

    /// Another person sees the journey from now on.
    package mutating func forgetMessage() { if hasMessage { message = nil } }

    /// The timers that have been due; nil when none has.
    public internal(set) var timers: PassedTimers? {
        get { box?.extras.timers }
        set { extras.timers = newValue }
    }
}
