import ServiceLocator

@testable import Sessions

extension Session {
    /// A unit of work on typed services, as commands do theirs.
    nonisolated(nonsending) func update<Result: Sendable>(
        inJourney journey: String? = nil, _ body: @escaping @Sendable (ServiceLocator) throws -> Result
    ) async throws -> Result {
        try await transact { [self] pending in
            try environment.withLocator(on: &pending, inJourney: journey, body)
        }
    }
}
