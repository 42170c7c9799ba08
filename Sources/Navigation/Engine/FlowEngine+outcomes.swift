extension FlowDefinition {
    /// The outcomes of an older version's tasks that mean nothing in this one: the result of a worker that has a task
    /// of that version would be held.
    package func lostOutcomes(
        of old: FlowDefinition, by migration: Migration
    ) -> [(state: String, outcome: String)] {
        old.states.flatMap { state in
            lostOutcomes(of: state) {
                migration.state(for: $0)
            } renaming: {
                migration.outcome(for: $0)
            }
        }
    }

    fileprivate func lostOutcomes(
        of former: FlowState, movedTo state: (String) -> String, renaming outcome: (String) -> String
    ) -> [(state: String, outcome: String)] {
        guard let old = former.task, let new = self.state(state(former.id))?.task else { return [] }
        return old.reportable.filter { name in
            if name == TaskState.failed || name == TaskState.timeout { return false }
            let name = outcome(name)
            return new.declared.map { $0[name] == nil } ?? (new.transitions(after: name) == nil)
        }.map { (former.id, $0) }
    }
}

extension FlowEngine {
    /// An outcome that a worker may report for the task that a journey waits for, and that means nothing in the version
    /// that the journey moves to at its next step; nil when there is none.
    ///
    /// - Parameter former: the flows on which the journey runs now.
    package func lostOutcome(
        of journey: Journey, among former: FlowCatalog
    ) -> (flow: String, version: Int, outcome: String)? {
        guard journey.task != nil, let top = journey.frames.last, case .migrate(let moves) = renewal(of: journey),
            let move = moves.first(where: { $0.coordinator == top.coordinator }), let newest = move.hops.last?.flow,
            let place = journey.coordinators.place(of: top.coordinator),
            let state = former.flow(of: journey.coordinators, at: place)?.state(top.state)
        else { return nil }
        let lost = newest.lostOutcomes(of: state) {
            move.state(for: $0)
        } renaming: { name in
            move.hops.reduce(name) { $1.migration.outcome(for: $0) }
        }
        return lost.first.map { (newest.id, newest.version, $0.outcome) }
    }
}
