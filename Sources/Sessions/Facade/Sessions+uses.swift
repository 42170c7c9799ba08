extension Sessions {
    /// How many uses are told in one transaction: a few milliseconds of the store's writer, for which those who have a
    /// session loaded, or write, may have to wait.
    package static let useBatch = 256
    /// A batch that is halved until one use is left is refused so often, whichever use it is for.
    private static let mostRefusals = 1 + useBatch.trailingZeroBitCount

    /// Tells the store when sessions were last used, of those of which it is due, in the order of their ids: uses of
    /// sessions that lie side by side in the store are told together.
    ///
    /// What it refuses is told again next time. A batch is halved first: a damaged row is no reason to keep the others'
    /// uses back. When it refuses everything it is asked no further.
    /// - Parameter all: whether to tell every use that it does not know, due or not.
    /// - Throws: what the store said last to what it refused.
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
    /// Nil when there is nothing.
    fileprivate mutating func takeFirst(_ count: Int) -> ArraySlice? {
        guard !isEmpty else { return nil }
        defer { self = dropFirst(count) }
        return prefix(count)
    }
}
