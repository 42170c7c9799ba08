/// A request to a session, and what came of it.
struct SentRequest: Sendable {
    enum Action: Hashable, Sendable {
        case read(SessionState.Service)
        /// Writes that number into one service.
        case put(SessionState.Service, Int)
        /// Writes it into `left` and `right`, in one transaction.
        case both(Int)
        /// The journey's next step, which writes it into `trail`.
        case move(Int)
        case end
        /// Asks for a fresh token; from then on the one before is a sign of theft.
        case rotate
        /// Presents the token before, which ends the session.
        case reuse
        /// Ends all sessions of the user of that write, which is this one.
        case endOfUser(Int)
    }

    enum Outcome: Hashable, Sendable {
        /// It was done. For a write the number is the new entity tag, where the answer has one.
        case acknowledged(Int?)
        case shown(SessionState.Content)
        /// 401: there is no such session any more.
        case sessionEnded
        /// No answer came, or one that leaves it open (503): it may have happened, or happen yet.
        case unknown
    }

    /// Who sent it. The requests of one client follow each other, those of two may be under way at once.
    let client: Int
    let action: Action
    var outcome: Outcome
    /// Moments, counted over all clients.
    let sentAt: Int
    /// When its answer was there; never for one that got none.
    let answeredAt: Int
    /// It need not have happened, though it was acknowledged: how the shortest history is found.
    var isForgiven = false
}

extension SentRequest: CustomStringConvertible {
    var description: String {
        let times = answeredAt == .max ? "\(sentAt)–" : "\(sentAt)–\(answeredAt)"
        return "[\(times)] client \(client): \(action) → \(outcome)"
    }
}

extension SentRequest {
    /// The states that a session can be in after this request came upon it in `state`; none when it cannot have done
    /// so.
    func results(on state: SessionState) -> [SessionState] {
        switch outcome {
        case .sessionEnded: return state.isEnded ? [state] : []
        case .shown(let content):
            guard case .read(let service) = action, !state.isEnded, state[service].write == content.write else {
                return []
            }
            guard let known = state[service].etag, known != content.etag else {
                var next = state
                next[service].etag = content.etag
                return [next]
            }
            return []
        case .acknowledged(let tag):
            let done = written(on: state, tag: isForgiven ? nil : tag).map { [$0] } ?? []
            return isForgiven ? [state] + done : done
        case .unknown: return [state] + (written(on: state, tag: nil).map { [$0] } ?? [])
        }
    }

    private func written(on state: SessionState, tag: Int?) -> SessionState? {
        guard !state.isEnded else { return nil }
        var next = state
        if !isForgiven { next.revision += 1 }
        switch action {
        case .read: return state
        case .end, .reuse, .endOfUser: next.isEnded = true
        case .rotate: break
        case .move(let number):
            if let tag, !state.canMove(to: tag) { return nil }
            next.step = tag ?? state.step + 1
            next.isThere.toggle()
            next[.trail] = SessionState.Content(write: number)
        case .put, .both:
            if let tag {
                // Revisions only grow.
                guard tag > state.revision else { return nil }
                next.revision = tag
            }
            for service in writtenServices { next[service] = SessionState.Content(write: number, etag: tag) }
        }
        return next
    }

    private var writtenServices: [SessionState.Service] {
        switch action {
        case .put(let service, _): [service]
        case .both: [.left, .right]
        case .move: [.trail]
        case .read, .end, .rotate, .reuse, .endOfUser: []
        }
    }

    private var number: Int {
        switch action {
        case .put(_, let number), .both(let number), .move(let number): number
        case .read, .end, .rotate, .reuse, .endOfUser: 0
        }
    }
}
