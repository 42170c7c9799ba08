import Sessions

extension SessionWriter {
    /// Nil when it is done. The row of a session that is replaced goes first: a time or a service of the former one must
    /// not be left under the new one's checksum.
    func receive(_ arrival: SessionArrival) throws(SQLiteError) -> StoreError? {
        let id = arrival.session.record.id
        // What was ended, or is replaced, may have rows in the log that are of a higher revision than what takes its place.
        try foldAll()
        try recent.removeStuck(key: id.key)
        if let replaced = arrival.replacedRevision {
            guard let revision = try storedRevision(of: id) else { return .gone }
            guard revision == Int64(clamping: replaced) else { return .conflict }
            _ = try end(id)
        }
        guard try create(arrival.session) else { return .conflict }
        for flow in arrival.newFlows { try write(flow) }
        return nil
    }
}
