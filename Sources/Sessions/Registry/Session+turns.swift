/// Units of work of one session are done one after the other: each takes its turn before it looks at the state.
extension Session {
    /// Waits for a turn, behind those who came before. ``endTurn()`` has to follow.
    ///
    /// - Throws: ``SessionError/ended``, ``SessionError/contention`` when too many are waiting.
    nonisolated(nonsending) func takeTurn() async throws(SessionError) {
        guard try !takeTurnIfFree() else { return }
        let isFull = state.withLock { $0.waitingWriters.count >= environment.settings.maxWaitingWriters }
        guard !isFull else { throw .contention }
        await withCheckedContinuation { continuation in
            // The one under way may have come to its end just now.
            let isFree = state.withLock { state in
                guard state.isWriting else {
                    state.isWriting = true
                    return true
                }
                state.waitingWriters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Waits for a turn before all others who wait: nothing is won by writing what is about to end. ``endTurn()`` has to
    /// follow.
    ///
    /// - Returns: false when the session has ended by then, and there is no turn.
    nonisolated(nonsending) func takeLastTurn() async -> Bool {
        guard let isFree = try? takeTurnIfFree() else { return false }
        guard !isFree else { return true }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isWriting else {
                    state.isWriting = true
                    return true
                }
                state.waitingWriters.insert(continuation, at: 0)
                return false
            }
            if isFree { continuation.resume() }
        }
        guard state.withLock(\.isEnded) else { return true }
        endTurn()
        return false
    }

    /// Takes a turn if nobody has it. Then ``endTurn()`` has to follow.
    ///
    /// - Throws: ``SessionError/ended``.
    func takeTurnIfFree() throws(SessionError) -> Bool {
        try state.withLock { state throws(SessionError) in
            guard !state.isEnded else { throw .ended }
            guard !state.isWriting else { return false }
            state.isWriting = true
            return true
        }
    }

    /// Hands the turn to whoever waits longest.
    func endTurn() {
        let isFree = state.withLock { state in
            guard state.waitingWriters.isEmpty else { return false }
            state.isWriting = false
            // An empty array that grew keeps its room, a million times.
            if state.waitingWriters.capacity > 0 { state.waitingWriters = [] }
            return true
        }
        guard !isFree else { return }
        // Only who has the turn takes one out, so that it is still there.
        state.withLock { $0.waitingWriters.removeFirst() }.resume()
    }
}
