import Navigation

extension Session {
    /// A journey as it was shown last, if the view is still current. Costs next to nothing.
    ///
    /// - Parameter id: as it stands in the path.
    /// - Returns: nil when no current view is cached, or the session has ended. Then call ``residentJourney(_:)``.
    package func shownJourney(_ id: UnsafeRawBufferPointer) -> JourneyText? {
        let processRevision = environment.processDocuments.now.revision
        return state.withLock { state in
            guard !state.isEnded, let memory = state.memory else { return nil }
            // By places, which counts no reference to the list.
            for place in memory.views.indices where memory.views[place].isOf(id) {
                let view = memory.views[place]
                guard view.revision == state.record.revision, view.processRevision == processRevision else {
                    return nil
                }
                if let dueAt = view.dueAt, environment.clock.now() >= dueAt { return nil }
                return view
            }
            return nil
        }
    }

    /// Replaces the cache, unless another thread has replaced `former`.
    func remember(_ memory: JourneyMemory?, after former: JourneyMemory?) {
        guard let memory, memory !== former else { return }
        let id = state.withLock { state -> SessionID? in
            guard !state.isEnded else { return nil }
            // Otherwise another thread has replaced it.
            guard state.memory === former else { return nil }
            state.memory = memory
            return former == nil ? state.record.id : nil
        }
        if let id { noteMemory(id) }
    }

    /// Notes that the session has its first memory.
    func noteMemory(_ id: SessionID) {
        environment.remembered.add(self, id)
        // It may have ended in between, and was not in the list to be removed from it.
        if state.withLock(\.isEnded) { environment.remembered.remove(self, id) }
    }

    /// Evicts the memory.
    func forgetJourneys() {
        // Freed outside of the lock.
        let memory = state.withLock { state in
            defer { state.memory = nil }
            return state.memory
        }
        withExtendedLifetime(memory) {}
    }
}
