import JSONDocument
import Navigation

extension FlowCheck {
    /// Checks child flows: that they exist, their outcomes, their inputs.
    mutating func checkChildren() {
        for state in flow.states {
            guard let child = state.childFlow else { continue }
            let place = ["states", state.id]
            guard let versions = known[child.flow] else {
                report(
                    place + ["flow"], .unknownFlow, "there is no flow \"\(child.flow)\"",
                    guess: NearestName.of(child.flow, among: known.keys.sorted()))
                continue
            }
            if let version = child.version, versions[version] == nil {
                let there = versions.keys.sorted().map(String.init).joinedAsList
                report(
                    place + ["version"], .unknownVersion, "\(child.flow) has no version \(version); there is \(there)")
                continue
            }
            // Nil when that flow has errors, which are reported there.
            guard let definition = catalog.flow(child.flow, version: child.version) else { continue }
            checkEnds(of: child, definition, at: place + ["on"])
            checkInput(of: child, definition, at: place)
            if let circle = circleWithoutScreen(through: child) {
                report(
                    place + ["flow"], .endlessChildren,
                    "without a screen between, \(circle.joined(separator: " starts "))")
            }
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
        let template = child.input ?? .literal(.emptyObject)
        let place = place + (child.input == nil ? [] : ["input"])
        switch template {
        case .literal(let input):
            for violation in rule.violations(in: input) {
                report(place, .inputMismatch, "\(child.flow) does not take this input: \(violation)")
            }
        case .object(let members):
            let forbidden = members.map(\.name).filter { SchemaRoom(rule.document).isForbidden(JSONPointer([$0])) }
            let all = rule.document[member: "properties"]?.members?.map(\.name) ?? []
            let misspelt = forbidden.compactMap { NearestName.of($0, among: all) }
            for name in rule.document[member: "required"]?.elements?.compactMap(\.string) ?? []
            where !misspelt.contains(name) && !members.contains(where: { $0.name == name }) {
                report(place, .inputMismatch, "\(child.flow) needs \"\(name)\" in its input")
            }
            for name in forbidden {
                report(
                    place + [name], .inputMismatch, "the input of \(child.flow) does not allow it",
                    guess: NearestName.of(name, among: all))
            }
            for member in members {
                guard let made = child.inputSchema?[member: "properties"]?[member: member.name],
                    let part = SchemaRoom(rule.document).schema(at: JSONPointer([member.name])), part.bool != false,
                    SchemaOverlap.isEmpty(made, part)
                else { continue }
                report(
                    place + [member.name], .inputMismatch,
                    "\(child.flow) never takes it: it is \(SchemaOverlap.kinds(of: made).phrase); expected "
                        + "\(SchemaOverlap.kinds(of: part).phrase) that fits the child's schema")
            }
        case .from, .array, .call, .time, .either: break
        }
    }

    /// The flows that start each other in a circle without a screen, from this flow back to it; nil when there is none.
    private func circleWithoutScreen(through child: ChildFlow) -> [String]? {
        guard flow.immediateChildren.contains(where: { $0 === child }) else { return nil }
        var seen: Set<String> = []
        func search(_ next: ChildFlow, _ way: [String]) -> [String]? {
            let way = way + [next.flow]
            if next.flow == flow.id { return way }
            guard seen.insert(next.flow).inserted, let definition = catalog.flow(next.flow, version: next.version)
            else { return nil }
            return definition.immediateChildren.lazy.compactMap { search($0, way) }.first
        }
        return search(child, [flow.id])
    }
}

extension FlowDefinition {
    /// The outcomes of the flow's `final` states, each once.
    public var outcomes: [String] {
        var outcomes: [String] = []
        for state in states {
            if case .final(let ending) = state.kind, !outcomes.contains(ending.outcome) {
                outcomes.append(ending.outcome)
            }
        }
        return outcomes
    }

    /// The child flows that may start before the flow reaches a screen.
    var immediateChildren: [ChildFlow] {
        var children: [ChildFlow] = []
        var seen: Set<Int> = []
        var open = [initial]
        while let place = open.popLast() {
            guard seen.insert(place).inserted else { continue }
            switch states[place].kind {
            case .screen, .task, .final: break
            case .choice(let branches): open += branches.compactMap(\.target)
            case .flow(let child): children.append(child)
            }
        }
        return children
    }
}
