import JSONDocument

extension FlowReader {
    /// Reports what a screen reads of its frame and no transition gives.
    ///
    /// The first screen of a flow may be given it by the flow that starts it.
    mutating func checkFrameReads(_ states: [FlowState], _ initial: Int?, _ everywhere: [Transition]) {
        guard !frameReads.isEmpty else { return }
        let given = Self.givenParams(states, initial, everywhere)
        for (place, path) in frameReads {
            guard place.tokens.count > 1, place.tokens[0] == "states", let state = statePlaces[place.tokens[1]],
                states[state].isScreen, let given = given[state], let name = path.pointer.tokens.first,
                !given.contains(name)
            else { continue }
            report(
                place, .valueNever,
                "no transition to \"\(states[state].id)\" gives \"\(name)\"; write \"params\": {\"\(name)\": "
                    + "{\"$from\": \"/event/\(name)\"}} on one",
                guess: guess(name, among: given.sorted()).map { "/frame/\($0)" }, severity: .warning)
        }
    }
}

extension FlowReader {
    /// The names of the params that transitions give to the frames of each state; nil where there may be others.
    private static func givenParams(_ states: [FlowState], _ initial: Int?, _ everywhere: [Transition]) -> [Set<
        String
    >?] {
        var given = [Set<String>?](repeating: [], count: states.count)
        // A choice hands on what was given, to a state that each of its branches leads to.
        var open: [(state: Int, names: Set<String>?)] = initial.map { [($0, nil)] } ?? []
        func follow(_ transition: Transition) {
            guard let target = transition.target else { return }
            open.append((target, transition.params.map(names(of:)) ?? []))
        }
        for state in states { state.causedTransitions.map(\.transition).forEach(follow) }
        everywhere.forEach(follow)
        while let (state, names) = open.popLast() {
            guard let known = given[state] else { continue }
            let all = names.map { known.union($0) }
            given[state] = all
            guard all != known, case .choice(let branches) = states[state].kind else { continue }
            for branch in branches where branch.params == nil {
                if let target = branch.target { open.append((target, all)) }
            }
        }
        return given
    }

    /// Nil for params whose names are not written out.
    private static func names(of params: ValueTemplate) -> Set<String>? {
        switch params {
        case .object(let members): Set(members.map(\.name))
        case .literal(let value): Set((value.members ?? []).map(\.name))
        default: nil
        }
    }
}
