import JSONDocument
import Navigation

/// How many running journeys need a state of a flow.
package struct JourneyCensusRow: Sendable, Equatable {
    package let flow: String
    package let version: Int
    package let state: String
    /// Journeys that show it, or run the child flow that it is.
    package let count: Int
    /// Journeys that have it somewhere on their stack, those of ``count`` among them.
    package let onStack: Int
}

extension Sessions {
    /// Which states of which versions running journeys stand on: what would be missed if they were gone. Sorted by flow,
    /// version and state.
    ///
    /// Goes through the whole store, page by page.
    package func runningJourneys() async throws(SessionError) -> [JourneyCensusRow] {
        fatalError("to come")
    }
}
