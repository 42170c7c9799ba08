import JSONDocument
import Navigation

/// How long sessions last, in milliseconds: what a flow can wait for.
public struct SessionSpan: Sendable {
    /// From the creation of a session to its end, used or not.
    public var lifetime: Int64
    /// For how long a session outlives its end for a task.
    public var caseLifetime: Int64

    /// The defaults of a server.
    public init(lifetime: Int64 = 12 * 3_600_000, caseLifetime: Int64 = 30 * 24 * 3_600_000) {
        self.lifetime = lifetime
        self.caseLifetime = caseLifetime
    }
}

extension FlowCheck {
    /// Warns of times before which every session has ended.
    mutating func checkTimes() {
        for state in flow.states {
            for (index, timer) in (state.screen?.timers ?? []).enumerated() {
                let place = timer.isTimeout ? ["timeout"] : ["timers", String(index)]
                check(timer, at: ["states", state.id] + place, ofTask: state.task != nil)
            }
        }
        for (index, timer) in flow.timers.enumerated() {
            check(timer, at: ["timers", String(index)], ofTask: false)
        }
        // A journey that moves to another session takes its time along.
        if flow.ownership.isPortable { return }
        let waits = flow.lives == nil && flow.states.contains { $0.task != nil }
        for (key, time) in [("idle", flow.timeout.idle), ("total", flow.timeout.total)] {
            check(time, at: ["timeout", key], ofTask: waits)
        }
    }

    private mutating func check(_ timer: FlowTimer, at place: [String], ofTask: Bool) {
        if check(timer.after, at: timer.isTimeout ? place : place + ["after"], ofTask: ofTask) { return }
        guard let every = timer.every else { return }
        // Without an end at least the second time has to come.
        let others = Int64(timer.times.map { $0 - 1 } ?? 1)
        let (distance, isTooLong) = every.multipliedReportingOverflow(by: others)
        let last = (timer.after ?? 0).later(by: isTooLong ? .max : distance)
        check(last, at: place + [timer.times == nil ? "every" : "times"], ofTask: ofTask)
    }

    /// - Returns: whether it has warned.
    @discardableResult
    private mutating func check(_ time: Int64?, at place: [String], ofTask: Bool) -> Bool {
        let span = all.span
        // `lives` counts for tasks, too, during which nobody uses the session.
        let lifetime = ofTask && flow.lives != nil ? 0 : span.lifetime
        guard let time, time > max(lifetime, flow.lives ?? (ofTask ? span.caseLifetime : 0)) else { return false }
        func text(_ time: Int64) -> String { DurationText.format(.milliseconds(time)) }
        let bounds =
            flow.lives.map { "the flow lives for \(text($0))" }
            ?? (ofTask
                ? "case_lifetime is \(text(span.caseLifetime)); raise it, or give the flow \"lives\""
                : "a session lasts \(text(span.lifetime)) at most; give the flow \"lives\"")
        report(place, .unreachableTime, "the session is gone before \(text(time)) are over: \(bounds)")
        return true
    }
}
