/// One of the navigation stacks of a search. The rules of moving are those of a journey's stack; see ``StackMove``.
struct RouteStack: FrameStack {
    fileprivate let stacks: RouteStacks
    let top: Int?

    subscript(place: Int) -> Frame { stacks[place] }
    func below(_ place: Int) -> Int? { stacks.below(place) }
}

/// The navigation stacks of a search: all of them at once, each sharing with others what they have in common.
///
/// A stack is named by its top node. Each node knows the one below, and none ever changes, so 10,000 stacks, each with
/// one frame more than the last, take the memory of one. A class, so that a ``RouteStack`` can look into it.
final class RouteStacks {
    private struct Node {
        let frame: Frame
        let below: Int?
    }

    private var nodes: [Node] = []

    subscript(place: Int) -> Frame { nodes[place].frame }

    func below(_ place: Int) -> Int? { nodes[place].below }

    func stack(_ top: Int?) -> RouteStack { RouteStack(stacks: self, top: top) }

    /// The stack with a frame put on it.
    func put(_ frame: Frame, on below: Int?) -> Int {
        nodes.append(Node(frame: frame, below: below))
        return nodes.count - 1
    }

    /// The stack after its top frame was left with a history policy.
    func marked(_ top: Int, _ policy: HistoryPolicy) -> Int { marked(top, self[top].mark.after(policy)) }

    /// The stack that stays when the frames above `landing` leave. An invalidated frame speaks for all below it, also
    /// after it has left.
    func uncovered(_ landing: Int?, from top: Int?) -> Int? {
        guard let landing else { return nil }
        let isInvalidated = places(from: top).prefix { $0 != landing }.contains { self[$0].mark == .invalidated }
        return isInvalidated ? marked(landing, .invalidated) : landing
    }

    /// The stack without the frames of some coordinators.
    func without(_ coordinators: Set<Int>, _ top: Int) -> Int? {
        let all = Array(places(from: top))
        guard let lowest = all.lastIndex(where: { coordinators.contains(self[$0].coordinator) }) else { return top }
        var result = below(all[lowest])
        let removed = all[...lowest].filter { coordinators.contains(self[$0].coordinator) }
        if removed.contains(where: { self[$0].mark == .invalidated }) {
            result = result.map { marked($0, .invalidated) }
        }
        for place in all[..<lowest].reversed() where !coordinators.contains(self[place].coordinator) {
            var frame = self[place]
            if result == nil { frame.presentation = .root }
            result = put(frame, on: result)
        }
        return result
    }

    /// The frames from the one at `top` down to the first.
    func places(from top: Int?) -> some Sequence<Int> {
        sequence(state: top) { next -> Int? in
            let place = next
            next = place.flatMap { self.below($0) }
            return place
        }
    }

    private func marked(_ place: Int, _ mark: Frame.Mark) -> Int {
        guard self[place].mark != mark else { return place }
        var frame = self[place]
        frame.mark = mark
        return put(frame, on: below(place))
    }
}
