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
                let place = timer.isTimeout ? ["timeout"] : ["timers", String(index), "after"]
                check(timer, at: ["states", state.id] + place, ofTask: state.task != nil)
            }
        }
        for (index, timer) in flow.timers.enumerated() {
            check(timer, at: ["timers", String(index), "after"], ofTask: false)
        }
    }

    private mutating func check(_ timer: FlowTimer, at place: [String], ofTask: Bool) {
        let span = all.span
        guard let after = timer.after, after > max(span.lifetime, flow.lives ?? (ofTask ? span.caseLifetime : 0)) else {
            return
        }
        func text(_ time: Int64) -> String { DurationText.format(.milliseconds(time)) }
        let bounds =
            flow.lives.map { "the flow lives for \(text($0))" }
            ?? (ofTask
                ? "case_lifetime is \(text(span.caseLifetime)); raise it, or give the flow \"lives\""
                : "a session lasts \(text(span.lifetime)) at most; give the flow \"lives\"")
        report(place, .unreachableTime, "the session is gone before \(text(after)) are over: \(bounds)")
    }
}
