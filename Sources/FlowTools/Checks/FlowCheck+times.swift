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
    /// Warns of a time before which every session has ended.
    mutating func checkTimes() {
        let span = all.span
        for state in flow.states {
            guard let after = state.screen?.timeout?.after else { continue }
            let kept = flow.lives ?? (state.task == nil ? 0 : span.caseLifetime)
            guard after > max(span.lifetime, kept) else { continue }
            func text(_ time: Int64) -> String { DurationText.format(.milliseconds(time)) }
            let bounds =
                flow.lives.map { "the flow lives for \(text($0))" }
                ?? (state.task == nil
                    ? "a session lasts \(text(span.lifetime)) at most; give the flow \"lives\""
                    : "case_lifetime is \(text(span.caseLifetime)); raise it, or give the flow \"lives\"")
            report(
                ["states", state.id, "timeout"], .unreachableTime,
                "the session is gone before \(text(after)) are over: \(bounds)")
        }
    }
}
