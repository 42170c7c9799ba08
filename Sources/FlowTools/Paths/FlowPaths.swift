import JSONDocument
import Navigation

/// Finds scripts that together take every transition of a flow.
///
/// ```swift
/// let paths = FlowPaths(definition, in: catalog, services: directory)
/// let coverage = paths.coveringScripts(services: documents, now: now)
/// print(coverage.json, coverage.curl(base: "http://localhost:8080"))
/// ```
///
/// It plays the flow with the engine itself. In each situation that it has reached it tries every event that is
/// accepted, `back`, each outcome of a task, signing a user in where the flow asks for one, and waiting until something
/// is due. The data is made from the schemas of events and outcomes, from the guards that depend on it
/// (``WishFinder``), and from the guards about services that the event writes. Where that does not take all
/// transitions, scripts begin with another input, with services as guards ask for (`given`), or with child flows that
/// end at once. So every script works. A transition that no script covers is impossible, or needs data that could not
/// be made up. The search ends after ``FlowExplorer/mostSteps`` steps of the engine.
public struct FlowPaths {
    private let flow: FlowDefinition
    private let catalog: FlowCatalog
    private let directory: ServiceDirectory

    /// - Parameters:
    ///   - catalog: has the flow and its children.
    ///   - directory: the services that a script may begin with other states of.
    public init(_ flow: FlowDefinition, in catalog: FlowCatalog, services directory: ServiceDirectory = .init([])) {
        self.flow = flow
        // The scripts are for this version, so journeys must not move on to a newer one.
        self.catalog = FlowCatalog(catalog.flows.filter { $0.id != flow.id || $0 === flow })
        self.directory = directory
    }

    /// Scripts that together take every transition of the flow that can be taken.
    ///
    /// - Parameters:
    ///   - services: the services at the start of each script.
    ///   - input: the input of the flow; nil makes some that fit.
    ///   - now: when each script begins; milliseconds since 1970.
    public func coveringScripts(
        services: any ServiceDocuments, input: JSONDocument? = nil, now: Int64 = 0
    ) -> FlowCoverage {
        let transitions = flow.allTransitions
        var explorer = FlowExplorer(flow, catalog, services, directory, now: now)
        let inputs = input.map { [$0] } ?? inputs(now: now)
        // The first input that the flow can be started with is given the most time.
        for input in inputs where explorer.roots.isEmpty {
            explorer.explore(from: ScriptStart(input: input), atMost: FlowExplorer.mostSteps / 2)
        }
        for input in inputs.dropFirst().prefix(8) where !explorer.roots.isEmpty {
            explorer.explore(from: ScriptStart(input: input), atMost: FlowExplorer.mostSteps / 20)
        }
        let first = explorer.roots.first.map { explorer.situations[$0].start.input } ?? inputs.first ?? .emptyObject
        for given in givenServices(explorer, services, now: now) {
            explorer.explore(
                from: ScriptStart(input: first, services: given.services, user: given.user),
                atMost: FlowExplorer.mostSteps / 20)
        }
        for children in givenChildren(explorer) {
            explorer.explore(
                from: ScriptStart(input: first, children: children), atMost: FlowExplorer.mostSteps / 20)
        }
        let (scripts, uncovered) = chosen(from: explorer, among: Set(transitions.map(\.transition.place)))
        let rest = transitions.filter { uncovered.contains($0.transition.place) }
            .map { FlowCoverage.Uncovered(transition: $0.transition.place, reason: explorer.reason(for: $0)) }
        return FlowCoverage(flow: flow.id, version: flow.version, scripts: scripts, uncovered: rest)
    }

    private func inputs(now: Int64) -> [JSONDocument] {
        let finder = WishFinder(flow) { if case .literal(let value) = $0 { value } else { nil } }
        let single = flow.guardParts.flatMap { finder.ways(to: $0) + finder.ways(to: $0, holds: false) }
            .map { $0.filter { $0.root == .input } }.filter { !$0.isEmpty }
        let pairs = single.prefix(6).enumerated().flatMap { place, one in
            single.prefix(6)[(place + 1)...].map { one + $0 }
        }
        return SampleData.samples(of: flow.input, wishes: single + pairs, now: now)
    }

    /// Chooses scripts, long ones first: they also take what shorter ones are for. Those that begin without anything
    /// given come before the others, and of equally long ones the one with the simplest data.
    private func chosen(
        from explorer: FlowExplorer, among places: Set<String>
    ) -> (scripts: [FlowScript], uncovered: Set<String>) {
        let situations = explorer.situations
        var uncovered = places
        var scripts: [FlowScript] = []
        let ends = situations.indices.sorted {
            let (one, other) = (situations[$0], situations[$1])
            return one.root == other.root ? one.depth > other.depth : one.root < other.root
        }
        for last in ends where !uncovered.isDisjoint(with: situations[last].taken) {
            let way = sequence(first: last) { situations[$0].origin }.reversed()
            let taken = way.flatMap { situations[$0].taken }
            let start = situations[last].start
            scripts.append(
                FlowScript(
                    input: flow.input.map { _ in start.input },
                    given: start.given(now: explorer.dependsOnTime ? explorer.now : nil),
                    entries: way.compactMap { situations[$0].entry },
                    takes: taken.reduce(into: []) { takes, place in
                        if uncovered.remove(place) != nil { takes.append(place) }
                    }))
        }
        return (scripts, uncovered)
    }
}

extension FlowPaths {
    /// Of what a script may be given no more is tried.
    private static let mostGiven = 8

    private typealias Given = (services: [String: JSONDocument], user: JSONDocument?)

    /// States of services, and users, with which guards hold that have not held on any way: those of transitions that
    /// were not taken and of the screens around.
    private func givenServices(_ explorer: FlowExplorer, _ services: any ServiceDocuments, now: Int64) -> [Given] {
        guard !explorer.missing.isEmpty else { return [] }
        let look = explorer.look
        let finder =
            look.map { WishFinder($0) } ?? WishFinder(flow) { if case .literal(let value) = $0 { value } else { nil } }
        var guards = flow.states[flow.initial].screen?.requires ?? []
        for caused in flow.allTransitions where explorer.missing.contains(caused.transition.place) {
            let tokens = JSONPointer(parsing: caused.transition.place)?.tokens ?? []
            let screen = tokens.count > 1 ? flow.state(tokens[1])?.screen : nil
            let needed = (screen?.requires ?? []) + [caused.transition.guard].compactMap(\.self)
            if needed.count > 1 { guards.append(.all(needed)) }
            guards += needed
        }
        guards += flow.turns
        let ways = guards.flatMap { finder.ways(to: $0) }.map { $0.filter { $0.root.isService } }.filter { !$0.isEmpty }
        let all = ways.isEmpty ? [] : [ways.flatMap(\.self)] + ways
        var found: [Given] = []
        for way in all where found.count < Self.mostGiven {
            guard let given = given(way, services, now: now) else { continue }
            if !found.contains(where: { $0.services == given.services && $0.user == given.user }) {
                found.append(given)
            }
        }
        return found
    }

    /// - Returns: nil when nothing can be given of what is wished for, or its services do not allow it.
    private func given(_ wishes: [Wish], _ services: any ServiceDocuments, now: Int64) -> Given? {
        var given: Given = ([:], nil)
        for wish in wishes {
            guard case .service(let name) = wish.root else { continue }
            if name == FlowExplorer.userService {
                if wish.tokens == ["authenticated"], case .value(let value) = wish.wanted, value.bool == false {
                    continue
                }
                let claims = given.user?[member: "claims"] ?? .emptyObject
                let more = wish.tokens.first == "claims" ? Array(wish.tokens.dropFirst()) : nil
                given.user = [
                    "user_id": "ada",
                    "claims": more.flatMap { claims.setting($0, to: wish.wanted, schema: true, now: now) } ?? claims,
                ]
                continue
            }
            guard let entry = directory[name], !entry.isReadOnly, !flow.ownership.services.contains(name),
                let before = given.services[name] ?? services.document(of: name),
                let after = before.setting(wish.tokens, to: wish.wanted, schema: entry.schema ?? true, now: now),
                after != before, services.violations(of: after, in: name).isEmpty
            else { continue }
            given.services[name] = after
        }
        return given.services.isEmpty && given.user == nil ? nil : given
    }

    /// Ends of child flows that no way has led to.
    private func givenChildren(_ explorer: FlowExplorer) -> [[String: ScriptStart.End]] {
        var found: [[String: ScriptStart.End]] = []
        for state in flow.states {
            guard let child = state.childFlow, child.flow != flow.id,
                let outcomes = catalog.flow(child.flow, version: child.version)?.outcomes
            else { continue }
            for end in child.ends where end.transitions.contains(where: { explorer.missing.contains($0.place) }) {
                let outcome = end.outcome ?? outcomes.first { name in !child.ends.contains { $0.outcome == name } }
                guard let outcome, outcomes.contains(outcome) else { continue }
                for output in explorer.outputs(of: nil, for: end.transitions, [], now: explorer.now).prefix(2) {
                    found.append([child.flow: .init(outcome: outcome, output: output)])
                }
            }
        }
        return Array(found.prefix(Self.mostGiven))
    }
}

extension JSONDocument {
    /// With another value at a place; nil where there cannot be one.
    fileprivate func setting(
        _ tokens: [String], to wanted: Wish.Wanted, schema: JSONDocument, now: Int64
    ) -> JSONDocument? {
        guard let first = tokens.first else {
            if case .absent = wanted { return nil }
            return SampleData.value(for: wanted, schema: schema, now: now)
        }
        let inner = SchemaRoom(schema).schema(at: JSONPointer([first])) ?? true
        let rest = Array(tokens.dropFirst())
        if kind == .array || (kind != .object && Int(first) != nil) {
            var list = elements ?? []
            let place = min(Int(first) ?? 0, list.count)
            guard
                let value = (place < list.count ? list[place] : .null).setting(
                    rest, to: wanted, schema: inner, now: now)
            else { return nil }
            if place < list.count { list[place] = value } else { list.append(value) }
            return JSONDocument(list)
        }
        if rest.isEmpty, case .absent = wanted { return merging(JSONDocument(members: [(name: first, value: .null)])) }
        guard let value = (self[member: first] ?? .null).setting(rest, to: wanted, schema: inner, now: now) else {
            return nil
        }
        var members = (members ?? []).filter { $0.name != first }
        members.append((name: first, value: value))
        return JSONDocument(members: members)
    }
}
