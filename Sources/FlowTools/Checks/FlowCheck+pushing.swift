import JSONDocument
import Navigation

extension FlowCheck {
    /// Reports screens that push each other in a circle on which nothing ever makes the stack shorter: it grows with
    /// each round, and going back leads through all of them.
    ///
    /// Frames with `params` are meant to lie on each other, such as one product above another.
    mutating func checkPushes() {
        // An event of the flow that goes back or starts a new stack does so on every screen.
        guard !flow.causedTransitions.contains(where: { shortens($0.transition) }) else { return }
        let pushes = flow.states.map { state in
            state.causedTransitions.map(\.transition).filter(isPush)
        }
        let next = pushes.map { $0.compactMap(\.target) }
        let distances = distances(along: next)
        for circle in FlowWays.components(next)
        where circle.count > 1 || circle.contains(where: { next[$0].contains($0) }) {
            guard circle.contains(where: { flow.states[$0].isScreen }),
                !circle.contains(where: { place in
                    flow.states[place].causedTransitions.contains { shortens($0.transition) }
                })
            else { continue }
            report(pushes, Set(circle), distances)
        }
    }

    private mutating func report(_ pushes: [[Transition]], _ circle: Set<Int>, _ distances: [Int]) {
        // The one that leads back to what is nearest to the start.
        let back = circle.sorted().flatMap { place in
            pushes[place].compactMap { transition -> (length: Int, transition: Transition)? in
                guard let target = transition.target, circle.contains(target), flow.states[target].isScreen else {
                    return nil
                }
                return (distances[target] - distances[place], transition)
            }
        }.min { $0.length < $1.length }?.transition
        guard let back, let target = back.target else { return }
        let name = flow.states[target].id
        report(
            JSONPointer(parsing: back.place)?.tokens ?? [], .endlessPush,
            circle.count == 1
                ? "each time \"\(name)\" lies on the stack once more; without a target the journey stays, and \"nav\": "
                    + "\"replace\" enters the screen anew"
                : "each round puts \"\(name)\" on the stack once more; \"nav\": \"pop_to\" goes back to the one below")
    }

    private func isPush(_ transition: Transition) -> Bool {
        (transition.nav ?? .push) == .push && transition.history == .preserve && transition.params == nil
    }

    private func shortens(_ transition: Transition) -> Bool {
        switch transition.nav {
        case .push, .present, nil: transition.history != .preserve
        case .replace, .dismiss, .pop, .popTo, .popToRoot, .setRoot, .resume: true
        }
    }

    private func distances(along next: [[Int]]) -> [Int] {
        var distances = [Int](repeating: next.count, count: next.count)
        distances[flow.initial] = 0
        var reached = [flow.initial]
        var first = 0
        while first < reached.count {
            let place = reached[first]
            first += 1
            for target in next[place] where distances[target] > distances[place] + 1 {
                distances[target] = distances[place] + 1
                reached.append(target)
            }
        }
        return distances
    }
}
