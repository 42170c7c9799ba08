import JSONDocument

/// The navigation stacks of a search: all of them at once, each sharing with others what they have in common.
///
/// A stack is the place of its top frame, each frame knows the one below, and none ever changes. So ten thousand
/// stacks, each with one more frame than the last, take the room of one.
struct RouteStack {
    struct Frame {
        /// A place in the coordinators of the search.
        let coordinator: Int
        /// A place in the flow's states; nil for a screen that the flow does not have any more.
        let state: Int?
        var presentation: Navigation.Frame.Presentation
        var mark: Navigation.Frame.Mark
        /// Nil for the first frame.
        let below: Int?
    }

    private(set) var frames: [Frame] = []

    subscript(place: Int) -> Frame { frames[place] }

    mutating func add(_ frame: Frame) -> Int {
        frames.append(frame)
        return frames.count - 1
    }

    /// The frames from the one at `top` down to the first.
    func downwards(from top: Int?) -> some Sequence<(place: Int, frame: Frame)> {
        sequence(first: top) { place in place.map { frames[$0].below } }
            .lazy.prefix { $0 != nil }.compactMap { place in place.map { (place: $0, frame: frames[$0]) } }
    }

    /// What leaving the top frame with that policy makes of the stack.
    ///
    /// An invalidated frame speaks for all below it, so that those need not be marked.
    mutating func marked(_ top: Int, _ policy: HistoryPolicy) -> Int {
        switch policy {
        case .preserve: frames[top].mark == .discarded ? remarked(top, .none) : top
        case .discard: frames[top].mark == .none ? remarked(top, .discarded) : top
        case .invalidate: remarked(top, .invalidated)
        }
    }

    /// The stack below a frame that goes; what the frame said of those below stays said.
    mutating func below(_ top: Int) -> Int? {
        guard let below = frames[top].below else { return nil }
        return frames[top].mark == .invalidated ? remarked(below, .invalidated) : below
    }

    /// The stack without the frames of some coordinators.
    mutating func without(_ coordinators: Set<Int>, _ top: Int) -> Int? {
        let all = Array(downwards(from: top))
        guard let lowest = all.lastIndex(where: { coordinators.contains($0.frame.coordinator) }) else { return top }
        var result = all[lowest].frame.below
        var isInvalidated = false
        for (_, frame) in all[...lowest] where coordinators.contains(frame.coordinator) && frame.mark == .invalidated {
            isInvalidated = true
        }
        if isInvalidated, let below = result { result = remarked(below, .invalidated) }
        for (_, frame) in all[..<lowest].reversed() where !coordinators.contains(frame.coordinator) {
            let presentation = result == nil ? .root : frame.presentation
            result = add(
                Frame(
                    coordinator: frame.coordinator, state: frame.state, presentation: presentation, mark: frame.mark,
                    below: result))
        }
        return result
    }

    private mutating func remarked(_ place: Int, _ mark: Navigation.Frame.Mark) -> Int {
        guard frames[place].mark != mark else { return place }
        var frame = frames[place]
        frame.mark = mark
        return add(frame)
    }
}
