import JSONDocument

/// Catalogs for tests of flows.
extension FlowCatalog {
    /// The catalog with flows that end at once and a recorder of every step.
    ///
    /// - Parameter ends: the outcome and the output of each flow that is replaced.
    package func trial(
        ending ends: [String: (outcome: String, output: JSONDocument)],
        recorder: @escaping @Sendable (TraceEvent) -> Void
    ) -> FlowCatalog {
        let replaced = flows.map { flow in ends[flow.id].map { flow.ending($0.outcome, $0.output) } ?? flow }
        return FlowCatalog(replaced, recorder: recorder)
    }
}

extension FlowDefinition {
    /// The places of all its transitions, as JSON Pointers into the file, in the order of the file's states.
    package var transitionPlaces: [String] {
        (states.flatMap(\.causedTransitions) + causedTransitions).map(\.transition.place)
    }

    /// A flow of that name and version that ends at once.
    fileprivate func ending(_ outcome: String, _ output: JSONDocument) -> FlowDefinition {
        FlowDefinition(
            id: id, version: version, summary: summary, document: document,
            states: [FlowState(id: "end", kind: .final(Ending(outcome: outcome, output: .literal(output))))],
            initial: 0,
            guards: [], events: [], accepts: [], entry: [], exit: [], input: input, timeout: .none, inFlight: .pin,
            migrations: [], forms: [], texts: .none)
    }
}
