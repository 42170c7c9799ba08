extension Sessions {
    /// How much is given back at once: what is written meanwhile waits for a few milliseconds.
    private static let pagesAtOnce = 256

    /// Gives a part of the room that the store does not need any more back to the system; nil when it has no file.
    package func giveBackSpace() async throws(SessionError) -> SpaceGivenBack? {
        guard let store = environment.store as? any FileStore else { return nil }
        do throws(StoreError) {
            return try await store.giveBackSpace(atMost: Self.pagesAtOnce)
        } catch {
            throw SessionError(error)
        }
    }
}
