import JSONDocument

/// Something that happens by itself at its time: an element of `timers`, or the `timeout` of a screen or a task.
///
/// A timer has moments: the first one, and with `every` those that follow. Each is taken once. A moment whose
/// transition is refused passes without it. A class, because steps pass it on.
public final class FlowTimer: Sendable {
    /// Names it in stored journeys: its `id`, else its place in the list, which starts with 0. Empty for a `timeout`.
    public let key: String
    /// When its first moment is.
    public let start: Start
    /// Milliseconds from one moment to the next; nil for a timer with one moment.
    public let every: Int64?
    /// How many moments there are; nil for no end of them, if there is more than one.
    public let times: Int?
    /// What happens then.
    public let effect: Effect

    /// When the first moment of a timer is.
    public enum Start: Sendable {
        /// Milliseconds after the screen was entered, or after the flow started.
        case after(Int64)
        /// At the time that the value says. There is no moment while there is no such value.
        case at(ValueTemplate)
    }

    /// What happens when the time has come.
    public enum Effect: Sendable {
        /// A transition. Without a move the journey stays as it is, but for the data.
        case transition(Transition)
        /// The journey expires.
        case expiry
        /// The task of the screen ends with ``TaskState/timeout``.
        case endOfTask
    }

    init(key: String, start: Start, every: Int64? = nil, times: Int? = nil, effect: Effect) {
        self.key = key
        self.start = start
        self.every = every
        self.times = times
        self.effect = effect
    }

    static let keys = FlowKeys(
        Transition.keys,
        and: [
            "id": .name, "after": .duration, "at": ["type": ["string", "object"]], "every": .duration,
            "times": .positive,
        ])
    static let timeoutKeys = FlowKeys(Transition.keys, and: ["after": .duration], required: ["after"])
}

extension FlowTimer {
    /// Whether it is the `timeout` of a screen or a task: the short form of one timer. Where its move is refused, the
    /// journey expires.
    package var isTimeout: Bool { key.isEmpty }

    /// The transition that it takes; nil for a timeout without one.
    package var transition: Transition? {
        if case .transition(let transition) = effect { transition } else { nil }
    }

    /// The duration after which it is first due; nil for one at a moment of the data.
    package var after: Int64? {
        if case .after(let after) = start { after } else { nil }
    }

    /// The value that says when it is first due; nil for one after a duration.
    package var at: ValueTemplate? {
        if case .at(let value) = start { value } else { nil }
    }

    /// How long after a refusal it is asked again. Of a timer that moves the journey and has one moment: after the same
    /// time.
    private var interval: Int64? { every ?? (transition?.moves == true ? after : nil) }

    /// One of its moments.
    ///
    /// - Parameters:
    ///   - passed: how many have passed.
    ///   - first: the first one.
    /// - Returns: nil when all have passed.
    func moment(after passed: Int, from first: Int64) -> Int64? {
        guard passed > 0 else { return first }
        guard let interval, times.map({ passed < $0 }) ?? true else { return nil }
        let (distance, isTooLong) = interval.multipliedReportingOverflow(by: Int64(passed))
        return isTooLong ? nil : first.later(by: distance)
    }

    /// How many moments have passed after one of them, and everything up to a time. Those that were missed, because no
    /// server ran, pass with the first of them: nobody wants to be reminded three hundred times.
    func passed(with one: Int, from first: Int64, by time: Int64) -> Int {
        guard let interval, time > first else { return one + 1 }
        return max(one + 1, Int(clamping: (time &- first) / interval) + 1)
    }
}

extension FlowReader {
    /// The shortest time between two moments: journeys are looked at each second.
    private static let shortestInterval: Int64 = 1_000

    /// Reads `timers` of a screen, a task or the flow.
    mutating func timers(_ node: FlowNode?) -> [FlowTimer] {
        var keys: Set<String> = []
        return elements(node).enumerated().compactMap { place, node in
            guard let timer = timer(node, at: place) else { return nil }
            if !keys.insert(timer.key).inserted {
                report(
                    node.place.appending("id"), .badValue,
                    "the id \"\(timer.key)\" occurs twice in this list: journeys remember by it what was taken")
            }
            return timer
        }
    }

    private mutating func timer(_ node: FlowNode, at place: Int) -> FlowTimer? {
        let transition = transition(node, .noEvent, keys: FlowTimer.keys, "a timer")
        guard node.isObject else { return nil }
        let id = name(node["id"])
        if let id, let written = node["id"], id.allSatisfy(\.isNumber) {
            report(written.place, .badName, "\"\(id)\" is the name of a timer without an id; use a word")
        }
        let every = milliseconds(node["every"])
        if let written = node["every"], let every, every < Self.shortestInterval {
            report(
                written.place, .badDuration, "every is \(written.quoted); expected a duration from \"1s\" on")
        }
        let times = wholeNumber(node["times"])
        if let written = node["times"], !node.has("every") {
            report(written.place, .missingKey, "times needs every: how long it is from one time to the next")
        }
        guard let start = start(of: node), let transition else { return nil }
        return FlowTimer(
            key: id ?? String(place), start: start, every: every, times: times, effect: .transition(transition))
    }

    private mutating func start(of node: FlowNode) -> FlowTimer.Start? {
        switch (node["after"], node["at"]) {
        case (let after?, nil): return milliseconds(after).map { .after($0) }
        case (nil, let at?):
            guard let value = readMoment(at, .noEvent) else { return nil }
            guard !value.contains({ $0.root == .now }) else {
                return refuse(
                    at, .badValue, "at depends on /now, and what moves with the time never comes; use after")
            }
            checkIsMoment(value, at: at.place)
            return .at(value)
        case (nil, nil):
            return refuse(
                node, .missingKey,
                "a timer needs after or at: \"after\": \"24h\", or \"at\": {\"$from\": \"/booking/departs_at\"}")
        case (_?, let at?):
            return refuse(at, .badValue, "a timer has after or at, not both; {\"$time\": …} adds a duration to a time")
        }
    }

    /// Reads `timeout` of a screen.
    mutating func timeout(_ node: FlowNode?) -> FlowTimer? {
        guard let node else { return nil }
        guard node.isObject else {
            return milliseconds(node).map { FlowTimer(key: "", start: .after($0), effect: .expiry) }
        }
        let transition = transition(node, .noEvent, keys: FlowTimer.timeoutKeys)
        let written = required("after", in: node, ": how long the journey may stay on the screen")
        guard let after = milliseconds(written) else { return nil }
        let effect = node.value.count == 1 ? nil : transition.map { FlowTimer.Effect.transition($0) }
        return FlowTimer(key: "", start: .after(after), effect: effect ?? .expiry)
    }
}
