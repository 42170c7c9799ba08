import Sessions
import Synchronization

/// Journeys as they were last shown, so that looking at one that has not moved costs no more than looking at a service.
///
/// Each has one place, by its hash, and takes it from whoever has it: there is no order of age to keep. What is found
/// was made for just this session and journey, and counts as long as the session's revision is the one it was made at.
final class JourneyViewCache: Sendable {
    /// Spread over locks by the same hash, so that workers seldom meet.
    private static let shardCount = 64
    /// With ``RenderedJourney/mostKeptBytes`` for each, all places together are 64 MiB at most.
    private static let placesPerShard = 256
    private struct Entry: Sendable {
        let session: SessionID
        /// As it stands in the path.
        let journey: [UInt8]
        var view: RenderedJourney
    }

    private final class Shard: Sendable {
        let places = Mutex([Entry?](repeating: nil, count: placesPerShard))
    }

    private let shards = (0..<shardCount).map { _ in Shard() }

    /// - Parameter journey: as it stands in the path.
    /// - Returns: nil when it is not here, or does not hold any more.
    func view(of journey: ArraySlice<UInt8>, in session: Session) -> RenderedJourney? {
        let id = session.id
        let hash = Self.hash(id, journey)
        let view = shards[hash.shard].places.withLock { places -> RenderedJourney? in
            guard let entry = places[hash.place], entry.session == id, entry.journey.elementsEqual(journey) else {
                return nil
            }
            return entry.view
        }
        guard let view, view.keepsItsBytes, session.stillHolds(revision: view.revision, dueAt: view.dueAt) else {
            return nil
        }
        return view
    }

    /// - Returns: the view, with what is known from the one that was here before.
    func keep(_ view: RenderedJourney, of journey: ArraySlice<UInt8>, in session: Session) -> RenderedJourney {
        let id = session.id
        let hash = Self.hash(id, journey)
        return shards[hash.shard].places.withLock { places in
            var view = view
            if let entry = places[hash.place], entry.session == id, entry.journey.elementsEqual(journey) {
                view = view.knowing(entry.view)
                guard entry.view.revision <= view.revision else {
                    // Somebody else has looked later and been here first.
                    places[hash.place]?.view = entry.view.hearing(of: view)
                    return view
                }
            }
            places[hash.place] = Entry(session: id, journey: Array(journey), view: view.kept)
            return view
        }
    }

    /// The session's id is random already; the journey's only tells those of one session apart.
    private static func hash(_ session: SessionID, _ journey: ArraySlice<UInt8>) -> (shard: Int, place: Int) {
        var hash = session.low
        for byte in journey { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return (
            shard: Int(truncatingIfNeeded: hash % UInt64(shardCount)),
            place: Int(truncatingIfNeeded: (hash >> 32) % UInt64(placesPerShard))
        )
    }
}
