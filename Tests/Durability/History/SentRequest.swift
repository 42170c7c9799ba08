/// A request to a session, and its outcome.
struct SentRequest: Sendable {
    enum Action: Hashable, Sendable {
        case read(SessionState.Service)
        /// Writes the number to one service.
        case put(SessionState.Service, Int)
        /// Writes the number to `left` and `right` in one transaction.
        case both(Int)
        /// The journey's next step, which writes the number to `trail`.
        case move(Int)
        case end
        /// Asks for a new token. From then on the old one is a sign of theft.
        case rotate
        /// Presents the old token, which ends the session.
        case reuse
        /// Ends all sessions of the user of that write, which is only this one.
        case endOfUser(Int)
    }

    enum Outcome: Hashable, Sendable {
        /// The request succeeded. For a write the number is the new entity tag, if the response has one.
        case acknowledged(Int?)
        case shown(SessionState.Content)
        /// 401: the session does not exist any more.
        case sessionEnded
        /// No response came, or one that leaves the outcome open (503): the request may have happened, or may yet
        /// happen.
        case unknown
    }

    /// The client. Requests of one client follow each other; requests of two clients may overlap.
    let client: Int
    let action: Action
    var outcome: Outcome
    /// Moments, counted across all clients.
    let sentAt: Int
    /// When the response came; the last moment if none came.
    let answeredAt: Int
    /// The request need not have happened, though it was acknowledged. Used to find the shortest history.
    var isForgiven = false
}

extension SentRequest: CustomStringConvertible {
    var description: String {
        let times = answeredAt == .max ? "\(sentAt)–" : "\(sentAt)–\(answeredAt)"
        return "[\(times)] client \(client): \(action) → \(outcome)"
    }
}

extension SentRequest {
    /// The possible states of a session after this request, from `state`; none when the request cannot have happened
    /// there.
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
