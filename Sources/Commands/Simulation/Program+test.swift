import Configuration
import JSONDocument
import Navigation
import Operations

extension Program {
    /// Plays all scripts of a folder, and prints what differs from what they expect and which transitions nothing took.
    static func test(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ files: FileReader, _ output: ProgramOutput
    ) async -> Int32 {
        let flows = loaded.configuration.flows ?? "config/flows"
        let directory = invocation.argument ?? PathText.join(flows, "tests")
        do {
            var run = ScriptRun(loaded, output)
            for name in try files.jsonFiles(in: directory) {
                let path = PathText.join(directory, name)
                for (place, script) in try SimulationScript.all(try files.read(path), named: path) {
                    try await run.play(script, named: place, file: name)
                }
            }
            run.report(directory)
            return run.holds ? ExitStatus.success : ExitStatus.failure
        } catch {
            output.complaint("concierge: \(error)\n")
            return ExitStatus.usage
        }
    }
}

/// A run of many scripts.
private struct ScriptRun {
    private let loaded: LoadedConfiguration
    private let output: ProgramOutput
    private var taken: Set<TakenTransition> = []
    private var count = 0
    private var differing = 0

    init(_ loaded: LoadedConfiguration, _ output: ProgramOutput) {
        self.loaded = loaded
        self.output = output
    }

    /// Whether there are scripts, and all came out as they say.
    var holds: Bool { count > 0 && differing == 0 }

    mutating func play(_ script: SimulationScript, named name: String, file: String) async throws {
        count += 1
        guard let flow = flow(of: script, file: file) else {
            differing += 1
            output.result("\(name): no flow has that name and version; say which it is by \"flow\" and \"version\"\n")
            return
        }
        let simulation = try await Simulation(of: flow, loaded, given: script.given)
        var differences: [String] = []
        let new = try await simulation.play(script, input: script.input) { step, result in
            let expected = step.flatMap { script.expectations[$0] }
            let place = step.map { "step \($0 + 1), \(script.steps[$0])" } ?? "start"
            for difference in try await simulation.differences(result, from: expected, needsSuccess: true) {
                differences.append("  \(place): \(difference)\n")
            }
        }
        taken.formUnion(new)
        guard !differences.isEmpty else { return }
        differing += 1
        output.result("\(name)\n" + differences.joined())
    }

    /// The flow that a script names, else the one whose id its file's name begins with.
    private func flow(of script: SimulationScript, file: String) -> FlowDefinition? {
        if let id = script.flow { return loaded.flows.flow(id, version: script.version) }
        let name = file.dropLast(".json".count)
        let ids = loaded.flows.ids.filter { id in
            name == id || (name.hasPrefix(id) && !(name.dropFirst(id.count).first?.isLetter ?? true))
        }
        return ids.max { $0.count < $1.count }.flatMap { loaded.flows.flow($0, version: script.version) }
    }

    func report(_ directory: String) {
        var all = 0
        var missing = 0
        for id in loaded.flows.ids {
            guard let flow = loaded.flows.flow(id) else { continue }
            for place in flow.allTransitions.map(\.transition.place) {
                all += 1
                if taken.contains(TakenTransition(flow: id, version: flow.version, place: place)) { continue }
                missing += 1
                output.result("\(id): nothing took \(place)\n")
            }
        }
        let scripts = String(counting: count, "script")
        let verdict = holds ? "all hold" : "\(differing) differ\(differing == 1 ? "s" : "")"
        output.result("\(directory): \(scripts), \(verdict); \(all - missing) of \(all) transitions taken\n")
    }
}

extension Simulation {
    /// The differences from what a script expects.
    ///
    /// - Parameter needsSuccess: whether a step that nothing is expected of must be taken.
    func differences(
        _ result: Result, from expected: SimulationScript.Expectation?, needsSuccess: Bool = false
    ) async throws -> [String] {
        switch result {
        case .shown(let shown, _):
            guard let expected else { return [] }
            var documents: [String: JSONDocument] = [:]
            for (name, _) in expected.data {
                documents[name] = try await document(of: name, inJourney: shown.view.id)
            }
            return expected.differences(from: shown.view, documents)
        case .refused(let error):
            let problem = try SimulationText.problem(of: error)
            let places = problem.errors.map { " \($0.pointer) \($0.detail)" }.joined(separator: ";")
            guard let expected, let code = expected.refused else {
                return expected == nil && !needsSuccess ? [] : ["it was refused: \(problem.kind.code):\(places)"]
            }
            guard code.isEmpty || code == problem.kind.code else {
                return ["it was refused as \(problem.kind.code), and not as \(code):\(places)"]
            }
            return []
        }
    }
}
