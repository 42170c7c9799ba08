extension Sessions {
    /// How many uses are told in one transaction: some two milliseconds of the store's writer, for which those who have a
    /// session loaded, or write, may have to wait.
    package static let useBatch = 64
    /// A batch that is halved until one use is left is refused so often, whichever use it is for.
    private static let mostRefusals = 1 + useBatch.trailingZeroBitCount

    /// Tells the store when sessions were last used, of those of which it is due.
    ///
    /// What it refuses is told again next time. A batch is halved first: a damaged row is no reason to keep the others'
    /// uses back. When it refuses everything it is asked no further.
    /// - Throws: what the store said last to what it refused.
    package func saveUses() async throws(SessionError) {
        var rest = registry.takeUses()[...]
        var batches: [ArraySlice<SessionUse>] = []
        var refusal: StoreError?
        var refusalsInARow = 0
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
                    break
                }
                guard batch.count > 1 else {
                    registry.finishSaving(batch, isDone: false)
                    continue
                }
                let middle = batch.startIndex + batch.count / 2
                batches += [batch[middle...], batch[..<middle]]
            }
        }
        if let refusal { throw SessionError(refusal) }
    }
}

extension ArraySlice {
    /// Nil when there is nothing.
    fileprivate mutating func takeFirst(_ count: Int) -> ArraySlice? {
        guard !isEmpty else { return nil }
        defer { self = dropFirst(count) }
        return prefix(count)
    }
}
