/// What the program can be asked to do.
package enum Command: String, Sendable, CaseIterable {
    case serve, check, config, health, version, help

    var summary: String {
        switch self {
        case .serve: "run the server until SIGTERM or SIGINT"
        case .check: "print all problems of configuration and service files"
        case .config: "print the effective configuration as JSON, secrets masked"
        case .health: "ask the running server whether it is ready"
        case .version: "print name and version"
        case .help: "explain a command"
        }
    }

    /// Whether it looks at the configuration and so takes the flags that change it.
    var takesConfiguration: Bool { self == .serve || self == .check || self == .config || self == .health }
}
