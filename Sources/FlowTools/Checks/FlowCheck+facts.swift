import JSONDocument
import Navigation

/// Checks what becomes of what the outside says: results of tasks, and events of back ends.
extension FlowCheck {
    mutating func checkFacts() {
        for state in flow.states {
            guard let task = state.task else { continue }
            for end in task.ends { check(end, of: state) }
        }
        checkBackendEvents()
    }

    private mutating func check(_ end: ChildEnd, of state: FlowState) {
        let place = ["states", state.id, "on", end.outcome.map { "done.\($0)" } ?? "done"]
        if !end.transitions.isEmpty, end.transitions.allSatisfy({ $0.guard != nil }) {
            report(
                place, .noLastTransition,
                "each transition has a guard; where none holds the result is held until an operator ends the task, so "
                    + "let the last one have none")
        }
        for transition in end.transitions {
            guard let target = transition.target.map({ flow.states[$0] }), let screen = target.screen,
                !screen.requires.isEmpty, screen.otherwise.isEmpty
            else { continue }
            report(
                JSONPointer(parsing: transition.place)?.tokens ?? place, .closedTarget,
                "\"\(target.id)\" has requires and no otherwise: where they do not hold when the result comes, the journey "
                    + "goes back to a screen below or ends")
        }
    }

    /// Reports an event of a back end that a person can slip away from.
    private mutating func checkBackendEvents() {
        var places: [String: [FlowState]] = [:]
        for state in flow.states {
            for rule in state.screen?.events ?? [] where rule.isBackend {
                places[rule.event, default: []].append(state)
            }
        }
        for (event, states) in places.sorted(by: { $0.key < $1.key }) where flow.rule(for: event) == nil {
            guard states.count == 1, let state = states.first, let screen = state.screen, screen.back != .forbidden,
                flow.place(of: state.id) != flow.initial
            else { continue }
            report(
                ["states", state.id, "on", event], .fleetingEvent,
                "only \"\(state.id)\" accepts the back end's event \"\(event)\", and going back leaves it; write \"back\": "
                    + "false, or accept the event in `on` of the flow, too")
        }
    }
}
