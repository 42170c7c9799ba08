import Sessions
import Synchronization

/// Journeys as they were last shown, so that looking at one that has not moved costs no more than looking at a service.
///
/// Each has one place, by its hash, and takes it from whoever has it: there is no order of age to keep. What is found
/// was made for just this session and journey, and counts as long as the session's revision is the one it was made at.
final class JourneyViewCache: Sendable {
    /// Spread over locks by the same hash, so that workers seldom meet.
    private static let shardCount = 64
    private static let placesPerShard = 256
    /// A view with large documents in it is not kept: 16,384 places of this size are 64 MiB at most.
    private static let mostBytes = 4 << 10

    private struct Entry: Sendable {
        let session: SessionID
        /// As it stands in the path.
        let journey: [UInt8]
        let view: RenderedJourney
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
        guard let view, session.stillHolds(revision: view.revision, dueAt: view.dueAt) else { return nil }
        return view
    }

    /// - Returns: the view, with what is known from the one that was here before.
    func keep(_ view: RenderedJourney, of journey: ArraySlice<UInt8>, in session: Session) -> RenderedJourney {
        guard view.bytes.count <= Self.mostBytes else { return view }
        let id = session.id
        let hash = Self.hash(id, journey)
        return shards[hash.shard].places.withLock { places in
            var view = view
            if let entry = places[hash.place], entry.session == id, entry.journey.elementsEqual(journey) {
                // Somebody else may have looked later and been here first.
                guard entry.view.revision <= view.revision else { return view }
                view = view.following(entry.view)
            }
            places[hash.place] = Entry(session: id, journey: Array(journey), view: view)
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
