extension Sessions {
    /// How many pages are returned at once. Writes wait for a few milliseconds meanwhile.
    private static let pagesAtOnce = 256

    /// Returns a part of the store's free space to the system; `nil` when the store has no file.
    package func giveBackSpace() async throws(SessionError) -> SpaceGivenBack? {
        guard let store = environment.store as? any FileStore else { return nil }
        do throws(StoreError) {
            return try await store.giveBackSpace(atMost: Self.pagesAtOnce)
        } catch {
            throw SessionError(error)
        }
    }
}
