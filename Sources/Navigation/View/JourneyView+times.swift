extension JourneyView {
    /// The same with its times moved, for who runs journeys by another clock than the one that people read.
    package func timesMoved(by milliseconds: Int64) -> JourneyView {
        if milliseconds == 0 { return self }
        return JourneyView(
            id: id, flow: flow, version: version, status: status, step: step, screen: screen, events: events,
            canGoBack: canGoBack, stack: stack, coordinators: coordinators, outcome: outcome, output: output,
            startedAt: startedAt + milliseconds, expiresAt: expiresAt.map { $0 + milliseconds })
    }
}
