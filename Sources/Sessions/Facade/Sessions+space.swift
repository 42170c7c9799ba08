extension Sessions {
    /// How much is given back at once: what is written meanwhile waits for a few milliseconds.
    private static let pagesAtOnce = 256

    /// Gives a part of the room that the store does not need any more back to the system; nil when it keeps none.
    package func giveBackSpace() async throws(SessionError) -> SpaceGivenBack? {
        do throws(StoreError) {
            return try await environment.store.giveBackSpace(atMost: Self.pagesAtOnce)
        } catch {
            throw SessionError(error)
        }
    }
}
