extension PendingState {
    /// - Throws: ``ExecutedBefore`` when the request of that id was executed.
    func checkIsNew(_ id: ShortDigest, in session: Session) throws {
        if let entry = base.replays.entry(of: id, now: now) { throw ExecutedBefore(.session(session, entry)) }
    }
}
