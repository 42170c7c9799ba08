/// The requests to one session since its state was known, and its state at the end.
struct History: Sendable {
    let start: SessionState
    var requests: [SentRequest]
    /// Read when no request was pending, as after a restart.
    let found: SessionState

    /// Whether some order of the requests leads to the final state. In that order no request comes before one whose
    /// response preceded it (linearizability).
    ///
    /// The search goes through the possible sets of finished requests, and remembers where it has been.
    /// - Parameter limit: the most sets to look at. Returns nil when these are too few.
    func isPossible(limit: Int = 500_000) -> Bool? {
        let lanes = lanes(requests.filter(matters))
        var open = [Place(done: [Int](repeating: 0, count: lanes.count), state: start)]
        var seen = Set(open)
        while let place = open.popLast() {
            if place.state.canBe(shownAs: found), isOver(place, lanes) { return true }
            guard seen.count < limit else { return nil }
            for next in place.next(lanes) where seen.insert(next).inserted { open.append(next) }
        }
        return false
    }

    /// Leaves out requests that need not have happened and were seen by no other: they neither explain nor contradict
    /// anything.
    private func matters(_ request: SentRequest) -> Bool {
        guard request.isForgiven || request.outcome == .unknown else { return true }
        switch (request.action, request.outcome) {
        case (_, .shown), (_, .sessionEnded), (.read, _): return false
        case (.put(_, let number), _), (.both(let number), _): return wasSeen(number)
        case (.move, _), (.end, _), (.rotate, _), (.reuse, _), (.endOfUser, _): return true
        }
    }

    private func wasSeen(_ number: Int) -> Bool {
        found.contents.contains { $0.write == number }
            || requests.contains { request in
                guard case .shown(let content) = request.outcome else { return false }
                return !request.isForgiven && content.write == number
            }
    }

    /// The requests of each client in order. A request without a response has a lane of its own: it can still happen
    /// while the client goes on.
    private func lanes(_ requests: [SentRequest]) -> [[SentRequest]] {
        let answered = Dictionary(grouping: requests.filter { $0.outcome != .unknown }, by: \.client)
        return answered.keys.sorted().map { answered[$0, default: []].sorted { $0.sentAt < $1.sentAt } }
            + requests.filter { $0.outcome == .unknown }.map { [$0] }
    }

    private func isOver(_ place: Place, _ lanes: [[SentRequest]]) -> Bool {
        zip(place.done, lanes).allSatisfy { done, lane in done == lane.count || lane[done].outcome == .unknown }
    }

    /// How far each lane is, and the session's state then.
    private struct Place: Hashable {
        var done: [Int]
        var state: SessionState

        func next(_ lanes: [[SentRequest]]) -> [Place] {
            let waiting = lanes.indices.filter { done[$0] < lanes[$0].count }
            // A request that was sent after the first of these responses has to wait for it.
            let horizon = waiting.map { lanes[$0][done[$0]].answeredAt }.min() ?? .max
            return waiting.flatMap { index -> [Place] in
                let request = lanes[index][done[index]]
                guard request.sentAt < horizon else { return [] }
                return request.results(on: state).map { state in
                    var place = Place(done: done, state: state)
                    place.done[index] += 1
                    return place
                }
            }
        }
    }

    // MARK: Showing a violation

    /// A sentence, and the fewest requests that cannot be explained; nil when all can.
    func violation() -> String? {
        switch isPossible() {
        case true: return nil
        case nil: return "the history of \(requests.count) requests is too long to be judged"
        default: break
        }
        let needed = shortest()
        let lines = needed.map { "    \($0)" }.joined(separator: "\n")
        return """
            no order of the requests explains what was found:
                at first  \(start)
            \(lines.isEmpty ? "    (no request)" : lines)
                found     \(found)
              (\(requests.count - needed.count) further requests do not matter: it is impossible whatever came of them)
            """
    }

    /// The requests without which there would be an explanation. All others are forgiven: they may have happened, and
    /// need not have. That only allows more, so the remaining requests are a proof by themselves.
    private func shortest() -> [SentRequest] {
        var history = self
        var size = max(1, requests.count / 2)
        while true {
            for start in stride(from: 0, to: requests.count, by: size) {
                var trial = history
                for index in start..<min(start + size, requests.count) { trial.requests[index].isForgiven = true }
                if trial.isPossible(limit: 20_000) == false { history = trial }
            }
            guard size > 1 else { break }
            size /= 2
        }
        return history.requests.filter { !$0.isForgiven }.sorted { $0.sentAt < $1.sentAt }
    }
}
