extension FlowCheck {
    /// The ways through the flow: what is never come to, what is never left, what goes round for ever.
    mutating func checkWays() {
        let ways = FlowWays(flow)
        let reached = ways.reached
        for (place, state) in flow.states.enumerated() where !reached[place] {
            report(
                ["states", state.id], .unreachableState, "nothing leads to the \(state.typeName) \"\(state.id)\"")
        }
        for place in ways.choiceCircles {
            report(
                ["states", flow.states[place].id], .endlessChoice,
                "the choice \"\(flow.states[place].id)\" may lead back to itself without a screen")
        }
        var stuck: Set<Int> = []
        for (place, state) in flow.states.enumerated() where reached[place] {
            guard let screen = state.screen, ways.hasNoWayOn(place) else { continue }
            stuck.insert(place)
            let mayGoBack = screen.back != .forbidden && place != flow.initial
            report(
                ["states", state.id], .screenWithoutWayOn,
                mayGoBack
                    ? "nothing can be done on the screen \"\(state.id)\" but going back"
                    : "nothing can be done on the screen \"\(state.id)\"",
                severity: mayGoBack ? .warning : .error)
        }
        for place in ways.deadEnds where reached[place] && !stuck.contains(place) {
            report(
                ["states", flow.states[place].id], .deadEnd,
                "from \"\(flow.states[place].id)\" neither an end nor a screen that goes on can be reached")
        }
    }
}
