import JSONDocument
import Navigation

extension FlowCheck {
    /// Checks child flows: that they exist, their outcomes, their inputs.
    mutating func checkChildren() {
        for state in flow.states {
            guard let child = state.childFlow else { continue }
            let place = ["states", state.id]
            guard let versions = all.known[child.flow] else {
                report(
                    place + ["flow"], .unknownFlow, "there is no flow \"\(child.flow)\"",
                    guess: NearestName.of(child.flow, among: all.known.keys.sorted()))
                continue
            }
            if let version = child.version, versions[version] == nil {
                let there = versions.keys.sorted().map(String.init).joinedAsList
                report(
                    place + ["version"], .unknownVersion, "\(child.flow) has no version \(version); there is \(there)")
                continue
            }
            // Nil when that flow has errors, which are reported there.
            guard let definition = all.catalog.flow(child.flow, version: child.version) else { continue }
            checkEnds(of: child, definition, at: place + ["on"])
            checkInput(of: child, definition, at: place)
        }
    }

    private mutating func checkEnds(of child: ChildFlow, _ definition: FlowDefinition, at place: [String]) {
        let outcomes = definition.outcomes
        let told = outcomes + [ChildFlow.abandoned, ChildFlow.closed, ChildFlow.expired]
        for end in child.ends {
            guard let outcome = end.outcome, !told.contains(outcome) else { continue }
            report(
                place + ["done.\(outcome)"], .unknownOutcome,
                "\(child.flow) never ends with \"\(outcome)\"; it ends with \(told.joinedAsList)",
                guess: NearestName.of(outcome, among: told).map { "done.\($0)" })
        }
        guard !child.ends.contains(where: { $0.outcome == nil }) else { return }
        // A misspelt one is reported as that.
        let misspelt = child.ends.compactMap(\.outcome).filter { !told.contains($0) }
            .compactMap { NearestName.of($0, among: told) }
        for outcome in outcomes
        where !misspelt.contains(outcome) && !child.ends.contains(where: { $0.outcome == outcome }) {
            report(
                place, .unhandledOutcome,
                "there is no transition for \"done.\(outcome)\"; the journey then returns to where \(child.flow) was started"
            )
        }
    }

    private mutating func checkInput(of child: ChildFlow, _ definition: FlowDefinition, at place: [String]) {
        guard let rule = definition.input else { return }
        let (template, made) = (child.input ?? .literal(.emptyObject), child.inputSchema ?? .emptyObject)
        let place = place + (child.input == nil ? [] : ["input"])
        switch template {
        case .literal, .object:
            for mismatch in SchemaOverlap.mismatches(of: template, made, with: rule.document) {
                report(
                    place + mismatch.pointer.tokens, .inputMismatch,
                    "\(child.flow) does not take this input: \(mismatch.detail)", guess: mismatch.guess)
            }
        default: break
        }
    }
}

extension FlowDefinition {
    /// The outcomes of the flow's `final` states, each once.
    public var outcomes: [String] {
        states.reduce(into: []) { outcomes, state in
            guard case .final(let ending) = state.kind, !outcomes.contains(ending.outcome) else { return }
            outcomes.append(ending.outcome)
        }
    }
}
