import Sessions

extension SessionWriter {
    /// Nil when it is done. The row of a session that is replaced goes first: a time or a service of the former one must
    /// not be left under the new one's checksum.
    func receive(_ arrival: SessionArrival) throws(SQLiteError) -> StoreError? {
        let id = arrival.session.record.id
        if let replaced = arrival.replacedRevision {
            guard let revision = try storedRevision(of: id) else { return .gone }
            guard revision == Int64(clamping: replaced) else { return .conflict }
            _ = try end(id)
        }
        guard try create(arrival.session) else { return .conflict }
        for flow in arrival.newFlows { try write(flow) }
        return nil
    }

    private func storedRevision(of id: SessionID) throws(SQLiteError) -> Int64? {
        let statement = try connection.prepare("SELECT revision FROM sessions WHERE key = ?1 AND id = ?2")
        try bind(id, to: statement)
        return try statement.step() ? statement.int64(0) : nil
    }
}
