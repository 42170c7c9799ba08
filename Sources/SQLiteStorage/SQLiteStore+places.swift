import Sessions

extension SQLiteStore: JourneyIndex {
    package var journeyIndex: any JourneyIndex { self }

    package func place(_ sessions: [PlacedSession]) async throws(StoreError) -> [SessionID] {
        var changed: [SessionID] = []
        try await eachUnlessDamaged(sessions) { (sessions) throws(StoreError) in
            changed += try await write { writer throws(SQLiteError) in
                // The index can wait for room.
                try writer.room.isLow ? sessions.map(\.id) : writer.places.place(sessions)
            }
        }
        return changed
    }

    package func notePlacesAreKnown() async throws(StoreError) {
        try await write { writer throws(SQLiteError) in writer.facts[.placesLost] = 0 }
    }

    package func journeyCounts() async throws(StoreError) -> [JourneyPlace: Int] {
        try await readDerived { reader throws(SQLiteError) in try reader.places.counts() }
    }

    package func sessions(
        at places: [JourneyPlace], from id: SessionID?, limit: Int
    ) async throws(StoreError) -> [SessionID] {
        try await readDerived { reader throws(SQLiteError) in try reader.sessions(at: places, from: id, limit: limit) }
    }
}
