import JSONDocument
import Navigation

extension Program {
    /// Plays a script on a flow. What happens goes to standard output.
    static func simulate(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ files: FileReader, _ output: ProgramOutput
    ) async -> Int32 {
        guard let flow = flow(of: invocation, in: loaded, output), let path = invocation.script else {
            return ExitStatus.usage
        }
        let script: SimulationScript
        let input: JSONDocument?
        do {
            script = try SimulationScript(try files.read(path), named: path)
            input = try invocation.input.map(Self.input) ?? script.input
        } catch {
            output.complaint("concierge: \(error)\n")
            return ExitStatus.usage
        }
        do {
            let isComplete = try await Simulation(of: flow, loaded, output).play(script, input: input)
            return isComplete ? ExitStatus.success : ExitStatus.failure
        } catch {
            output.complaint("concierge: \(error)\n")
            return ExitStatus.failure
        }
    }

    /// The flow that a command is about, in its highest version.
    static func flow(
        of invocation: Invocation, in loaded: LoadedConfiguration, _ output: ProgramOutput
    ) -> FlowDefinition? {
        let id = invocation.flow ?? ""
        if let flow = loaded.flows.flow(id) { return flow }
        let guess = NearestName.of(id, among: loaded.flows.ids).map { "; did you mean \($0)?" } ?? ""
        output.complaint("concierge: there is no flow \(WrittenValue.quoted(id))\(guess)\n")
        return nil
    }

    private static func input(_ text: String) throws(UsageError) -> JSONDocument {
        do {
            return try JSONDocument(parsing: text)
        } catch {
            throw UsageError("--input is not JSON: \(error)")
        }
    }
}
