import Navigation

extension Session {
    /// Goes to a screen along the shortest way that the flow allows.
    ///
    /// - Returns: the journey, and the screens of the way, the one that it ends at last.
    nonisolated(nonsending) package func navigate(
        journey id: String, to screen: String, condition: JourneyCondition = .none
    ) async throws -> (shown: ShownJourney, path: [String]) {
        throw JourneyError.notFound(id)
    }
}
