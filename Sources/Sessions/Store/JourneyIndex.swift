/// Where the journeys of a store's sessions stand, so that those at a place are found and counted without looking at
/// all.
///
/// It follows from the records and is not a part of commits, which it would make dearer: it may be a moment behind.
package protocol JourneyIndex: AnyObject, Sendable {
    /// Writes where the journeys of sessions stand now. Those of a session that has ended are removed.
    ///
    /// - Returns: those that have another revision by now: they have to be placed again.
    func place(_ sessions: [PlacedSession]) async throws(StoreError) -> [SessionID]

    /// How many journeys stand at each place.
    func journeyCounts() async throws(StoreError) -> [JourneyPlace: Int]

    /// Sessions with journeys at one of the places: at most `limit` from `id` on, in an order that the store chooses
    /// and does not change.
    func sessions(
        at places: [JourneyPlace], from id: SessionID?, limit: Int
    ) async throws(StoreError) -> [SessionID]
}
