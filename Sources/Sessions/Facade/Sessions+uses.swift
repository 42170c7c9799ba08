extension Sessions {
    /// How many uses go to the store in one transaction. It takes the store's writer a few milliseconds, for which
    /// other writes and loads may have to wait.
    package static let useBatch = 256
    /// How often a batch is refused until halving it has left one use.
    private static let mostRefusals = 1 + useBatch.trailingZeroBitCount

    /// Tells the store when sessions were last used, if that is due, in the order of their ids: neighbours in the store
    /// are written together.
    ///
    /// What the store refuses is tried again next time. A batch is halved first, so that a damaged row does not keep
    /// other uses back. When the store refuses everything, no more is sent.
    /// - Parameter all: whether to send every use that the store does not know, due or not.
    /// - Throws: the store's last error.
    package func saveUses(all: Bool = false) async throws(SessionError) {
        guard environment.savesUses else { return }
        var place = 0
        var refusal: StoreError?
        var refusalsInARow = 0
        while let uses = registry.takeUses(from: &place, all: all) {
            var rest = uses[...]
            var batches: [ArraySlice<SessionUse>] = []
            while let batch = batches.popLast() ?? rest.takeFirst(Self.useBatch) {
                do {
                    try await environment.store.touch(Array(batch))
                    registry.finishSaving(batch, isDone: true)
                    refusalsInARow = 0
                } catch {
                    refusal = error
                    refusalsInARow += 1
                    guard refusalsInARow <= Self.mostRefusals else {
                        for uses in batches + [batch, rest] { registry.finishSaving(uses, isDone: false) }
                        throw SessionError(error)
                    }
                    guard batch.count > 1 else {
                        registry.finishSaving(batch, isDone: false)
                        continue
                    }
                    let middle = batch.startIndex + batch.count / 2
                    batches += [batch[middle...], batch[..<middle]]
                }
            }
        }
        if let refusal { throw SessionError(refusal) }
    }
}

extension ArraySlice {
    /// `nil` when it is empty.
    fileprivate mutating func takeFirst(_ count: Int) -> ArraySlice? {
        guard !isEmpty else { return nil }
        defer { self = dropFirst(count) }
        return prefix(count)
    }
}
