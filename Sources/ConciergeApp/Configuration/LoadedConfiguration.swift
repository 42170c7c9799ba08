import Navigation

/// The effective configuration, where each value came from, the services and flows it declares, and everything wrong with it.
package struct LoadedConfiguration: Sendable {
    /// Only to be used when ``hasErrors`` is false: keys with a bad value have their default here.
    package var configuration = Configuration()
    /// By the path of the key; keys that are not in it have their default.
    package var origins: [String: ValueOrigin] = [:]
    /// The file that was read, if any.
    package var file: String?
    package var services: [ServiceFile] = []
    /// How many service files were looked at, the bad ones too.
    package var serviceFileCount = 0
    /// Empty when a flow file has an error.
    package var flows = FlowCatalog.empty
    /// How many flow files were looked at, the bad ones too.
    package var flowFileCount = 0
    package var problems: [ConfigurationProblem] = []

    package var hasErrors: Bool { problems.contains { $0.severity == .error } }

    func origin(of path: String) -> ValueOrigin { origins[path] ?? .builtIn }
}
