import JSONDocument

@testable import Sessions

extension Session {
    /// Starts a journey over as no request does: without schemas, and without copies.
    nonisolated(nonsending) func restartJourney(
        _ id: String, flow: String? = nil, input: JSONDocument? = nil, condition: WriteCondition = .none
    ) async throws -> (shown: JourneyText, isNew: Bool) {
        let (form, isNew) = try await restartJourney(
            id, flow: flow, input: input, condition: condition, withSchemas: false, once: nil)
        return (form.text, isNew)
    }
}
