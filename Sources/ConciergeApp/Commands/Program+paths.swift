import JSONDocument
import Navigation

extension Program {
    /// Prints scripts that together take every transition of a flow.
    static func paths(_ invocation: Invocation, _ loaded: LoadedConfiguration, _ output: ProgramOutput) -> Int32 {
        guard let flow = flow(of: invocation, in: loaded, output) else { return ExitStatus.usage }
        do {
            let services = try DefaultDocuments(loaded.services)
            let coverage = FlowPaths(flow, in: loaded.flows).coveringScripts(services: services)
            output.result(
                invocation.showsCurl ? coverage.curl(base: base(loaded.configuration)) : "\(coverage.json)\n")
            return ExitStatus.success
        } catch {
            output.complaint("concierge: \(error)\n")
            return ExitStatus.failure
        }
    }

    /// Where this machine reaches the public listener of that configuration.
    private static func base(_ configuration: Configuration) -> String {
        let host =
            switch configuration.host {
            case "0.0.0.0", "::": "localhost"
            case let host where host.contains(":"): "[\(host)]"
            default: configuration.host
            }
        return "http://\(host):\(configuration.port)"
    }
}
