import JSONDocument

/// Standing rules about the time: when the guard of an `always` begins to hold, and when `requires` cease to.
extension StepRun {
    /// The next time after now at which a standing rule moves the journey if the data stays as it is; nil for never.
    mutating func nextTurn() throws(JourneyRefusal) -> Int64? {
        guard let top = journey.frames.last else { return nil }
        var turn: Int64?
        var state = top.state
        var next: Int? = top.coordinator
        while let id = next {
            let flow = try flow(of: id)
            if flow.clock.hasRules {
                let scope = try scope(of: id)
                let here = flow.place(of: state)
                var always = flow.always
                if id == top.coordinator, let screen = flow.screen(of: top)?.screen {
                    always += screen.always
                    for guardian in screen.requires {
                        turn = earlier(turn, scope.turn(of: guardian) { $0 != .holds })
                    }
                }
                for guardian in always.filter({ $0.target != here }).compactMap(\.guard) {
                    turn = earlier(turn, scope.turn(of: guardian) { $0 == .holds })
                }
            }
            guard let place = journey.coordinators.place(of: id) else { break }
            next = journey.coordinators[place].parent
            state = journey.coordinators[place].startedBy ?? ""
        }
        return turn
    }
}

extension DataScope {
    /// Where the form of a guard does not say when it turns, it is tried minute by minute to the end of the hour: looks
    /// at different times must find the same.
    private static let minute: Int64 = 60_000
    private static let hour: Int64 = 60 * minute
    /// More than there are minutes in an hour, or comparisons in a sensible guard.
    private static let mostTurns = 200
    /// Later times are not looked for.
    private static let farthest: Int64 = 100 * 366 * 86_400_000

    /// The next time after now at which a guard has a verdict that is wanted, as the data is; nil for never. Where that
    /// is too far to be tried, or takes too much work, the time at which to look for it again.
    fileprivate func turn(of guardian: Guard, to isWanted: (Verdict) -> Bool) -> Int64? {
        services.overwork = nil
        return services.apart { foundTurn(of: guardian, to: isWanted) }
    }

    private func foundTurn(of guardian: Guard, to isWanted: (Verdict) -> Bool) -> Int64? {
        // What holds already, or does not any more, was refused; the time alone does not change that.
        let verdict = test(guardian)
        guard services.overwork == nil else { return (now / Self.hour + 1) * Self.hour }
        if isWanted(verdict) { return nil }
        var scope = self
        let end = isForeseen(guardian) ? .max : (now / Self.hour + 1) * Self.hour
        for _ in 0..<Self.mostTurns {
            guard let next = scope.nextChange(of: guardian) else { return nil }
            scope.now = min(next, end)
            let verdict = scope.test(guardian)
            guard services.overwork == nil else { return (now / Self.minute + 1) * Self.minute }
            if isWanted(verdict) || scope.now == end { break }
        }
        return scope.now
    }

    /// Whether the form of each comparison in a guard says when it turns.
    private func isForeseen(_ guardian: Guard) -> Bool {
        switch guardian {
        case .compare(let left, _, let right):
            !(left.readsClock || right.readsClock) || (left.followsClock && !right.readsClock)
                || (right.followsClock && !left.readsClock)
        case .named(let place): isForeseen(definition.guards[place].guard)
        case .all, .any, .not: guardian.parts.allSatisfy(isForeseen)
        case .isIn, .quantified: !guardian.looksAtTime && guardian.parts.allSatisfy(isForeseen)
        case .shape, .isTrue, .has: true
        }
    }

    /// The next time at which a comparison in a guard may have another result.
    private func nextChange(of guardian: Guard) -> Int64? {
        switch guardian {
        case .compare(let left, _, let right): nextChange(between: left, and: right)
        case .named(let place): nextChange(of: definition.guards[place].guard)
        case .isIn where guardian.looksAtTime, .quantified where guardian.looksAtTime:
            (now / Self.minute + 1) * Self.minute
        case .all, .any, .not, .isIn, .quantified: guardian.parts.reduce(nil) { earlier($0, nextChange(of: $1)) }
        case .shape, .isTrue, .has: nil
        }
    }

    private func nextChange(between left: ValueTemplate, and right: ValueTemplate) -> Int64? {
        switch (left.readsClock, right.readsClock) {
        case (false, false): return nil
        case (true, false) where left.followsClock: return nextChange(of: left, against: right)
        case (false, true) where right.followsClock: return nextChange(of: right, against: left)
        default: return (now / Self.minute + 1) * Self.minute
        }
    }

    /// The next time at which a value that grows with the time comes to another one, or goes beyond it. It is found by
    /// halving, because adding a month has no exact inverse.
    private func nextChange(of clock: ValueTemplate, against fixed: ValueTemplate) -> Int64? {
        guard let value = try? evaluate(fixed) else { return nil }
        let fixed = ValueTemplate.literal(value)
        func order(at time: Int64) -> [Verdict] {
            var scope = self
            scope.now = time
            return [Comparison.less, .greater].map { scope.compare(clock, $0, fixed).verdict }
        }
        let before = order(at: now)
        var (same, other) = (now, now.later(by: Self.farthest))
        if order(at: other) == before { return nil }
        while same &+ 1 < other {
            let middle = same + (other - same) / 2
            if order(at: middle) == before { same = middle } else { other = middle }
        }
        return other
    }
}

extension ValueTemplate {
    /// Whether it depends on the time.
    fileprivate var readsClock: Bool { contains { $0.root == .now } }

    /// Whether it is the time, or a fixed time from it: later when it is later.
    fileprivate var followsClock: Bool {
        switch self {
        case .from(let path, _): path.root == .now && path.built.isEmpty
        case .time(let from, let plus): from.followsClock && plus?.readsClock != true
        case .day(let time, _): time.followsClock
        default: false
        }
    }
}
