extension Session {
    /// Gives up every journey, the newest first, before what keeps them goes.
    ///
    /// - Returns: whether it has to stay even so, for the steps of journeys to come.
    func giveUpJourneys(on pending: inout PendingState) throws(SessionError) -> Bool {
        // What cannot be read can still be removed.
        guard var work = try? JourneyWork(on: pending, environment) else { return false }
        for entry in work.kept.entries.reversed() { try work.abandon(entry) }
        pending = work.pending
        return !work.kept.isEmpty
    }
}
