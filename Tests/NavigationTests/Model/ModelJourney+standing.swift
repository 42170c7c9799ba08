/// What follows from the flags without an event.
extension ModelJourney {
    /// Goes on until nothing more follows.
    mutating func rest() throws {
        for _ in 0...100 {
            guard let next = try unprompted() else { return }
            self = next
            unpromptedMoves += 1
        }
        throw Refused()
    }

    /// Whether something that changes data is about to follow, and is refused since the journey rests.
    var isHeldBack: Bool { urges.contains { !$0.move.effects.isEmpty } }

    /// The transitions without an event whose guards hold, in the order in which they are tried.
    var urges: [(move: ModelFlow.Move, owner: Int)] {
        guard let top = frames.last, let screen = screen(of: top) else { return [] }
        var moves: [(move: ModelFlow.Move, owner: Int)] = []
        if !mayBeOn(top), let otherwise = screen.otherwise { moves.append((otherwise, top.coordinator)) }
        var owner = coordinator(top.coordinator)
        for move in screen.always + flows[owner.flow].always where move.target != top.state {
            moves.append((move, owner.id))
        }
        while let parent = owner.parent, let startedBy = owner.startedBy {
            owner = coordinator(parent)
            for move in flows[owner.flow].always where move.target != startedBy { moves.append((move, owner.id)) }
        }
        return moves.filter { holds($0.move.condition, $0.owner) }
    }

    /// The journey after what follows next; nil when it may stay.
    func unprompted() throws -> ModelJourney? {
        guard let top = frames.last else { return nil }
        var fresh = self
        fresh.prepareForMove()
        for (move, owner) in urges {
            var next = fresh
            if (try? next.take(move, of: owner)) != nil { return next }
        }
        guard !mayBeOn(top) else { return nil }
        var next = fresh
        if (try? next.close()) != nil { return next }
        fresh.leave()
        try fresh.end()
        fresh.outcome = "closed"
        return fresh
    }

    /// Down to where one may be.
    mutating func close() throws {
        farewell = "closed"
        defer { farewell = "abandoned" }
        leave()
        for _ in 0..<100 {
            cut(to: placeToGoBackTo(where: { _ in true }) ?? -1)
            try release(isLed: false)
            guard let top = frames.last, let screen = screen(of: top) else { return }
            guard mayBeOn(top) else { continue }
            apply(screen.entry, top.coordinator)
            return wind()
        }
        throw Refused()
    }
}
