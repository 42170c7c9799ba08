/// All transitions of a flow, in the order of its states.
struct FlowTransitions {
    struct Entry {
        /// A JSON Pointer into the file.
        let place: String
        let cause: Cause
    }

    enum Cause {
        case event(String)
        /// On that screen.
        case time(String)
        case choice
        /// Of a child flow.
        case end
    }

    private(set) var all: [Entry] = []

    init(_ flow: FlowDefinition) {
        for state in flow.states {
            switch state.kind {
            case .screen(let screen):
                add(screen.events)
                if let transition = screen.timeout?.transition {
                    all.append(Entry(place: transition.place, cause: .time(state.id)))
                }
            case .choice(let branches): all += branches.map { Entry(place: $0.place, cause: .choice) }
            case .flow(let child):
                all += child.ends.flatMap(\.transitions).map { Entry(place: $0.place, cause: .end) }
            case .final: break
            }
        }
        add(flow.events)
    }

    private mutating func add(_ rules: [EventRule]) {
        for rule in rules {
            all += rule.transitions.map { Entry(place: $0.place, cause: .event(rule.event)) }
        }
    }
}
