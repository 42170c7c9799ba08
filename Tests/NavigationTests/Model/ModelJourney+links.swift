/// What a link may do where a person would have to give answers.
extension ModelJourney {
    /// Where an event of a link may lead: it is sent, or the screen is passed without it.
    func prospects(of event: String) -> [ModelJourney] {
        var sent = self
        let isSent = (try? sent.send(event, asLink: true)) != nil
        return (isSent ? [sent] : []) + [passage(by: event)].compactMap(\.self)
    }

    private func answers(of frame: Frame) -> [String]? {
        guard case .screen(let screen) = state(of: frame) else { return nil }
        return screen.answers
    }

    private func isAnswered(_ frame: Frame) -> Bool {
        answers(of: frame)?.allSatisfy { value in
            flags(of: ModelFlow.service(of: value), seenBy: frame.coordinator)[value] != nil
        } ?? false
    }

    /// A link passes a screen whose answers are there, without the effects of what would have given them.
    private func passage(by event: String) -> ModelJourney? {
        guard (try? checkIsAtRest()) != nil, let (moves, owner) = reaction(to: event), let top = frames.last,
            let answers = answers(of: top), !answers.isEmpty, isAnswered(top),
            let move = try? first(of: moves, owner), move.isMove, move.mayBePassed, move.verb != .resume,
            move.gives(answers)
        else { return nil }
        var next = fresh
        next.isLink = true
        next.movedAt = now
        do {
            next.leave()
            next.mark(move.history)
            let isLed = try next.follow(move, of: owner)
            try next.settle(isLed: isLed)
            next.isLink = false
            try next.rest()
        } catch {
            return nil
        }
        next.setDue()
        return next
    }
}

extension ModelFlow.Move {
    /// Whether it writes one of these values, or all that its service has.
    fileprivate func gives(_ answers: [String]) -> Bool {
        effects.contains { effect in
            switch effect {
            case .give(let value), .empty(let value): answers.contains(value)
            case .reckon: true
            default: false
            }
        }
    }
}
