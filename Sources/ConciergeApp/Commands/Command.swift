/// What the program can be asked to do.
package enum Command: String, Sendable, CaseIterable {
    case serve, check, config, simulate, paths, store, health, version, help

    var summary: String {
        switch self {
        case .serve: "run the server until SIGTERM or SIGINT"
        case .check: "print all problems of configuration, service and flow files"
        case .config: "print the effective configuration as JSON, secrets masked"
        case .simulate: "play a script of events on a flow, without a server"
        case .paths: "print scripts that together take every transition of a flow"
        case .store: "look after the file that sessions live in"
        case .health: "ask the running server whether it is ready"
        case .version: "print name and version"
        case .help: "explain a command"
        }
    }

    /// Whether it looks at the configuration and so takes the flags that change it.
    var takesConfiguration: Bool { self != .version && self != .help }

    /// Whether it is about one flow, which is its argument.
    var takesFlow: Bool { self == .simulate || self == .paths }

    /// Flags of its own with a value.
    var valueFlags: [String] {
        switch self {
        case .check: ["--against", "--admin-key-file"]
        case .store: ["--admin-key-file"]
        case .simulate: ["--script", "--input"]
        default: []
        }
    }

    /// Flags of its own without a value.
    var switches: [String] {
        switch self {
        case .config: ["--sources", "--reference"]
        case .paths: ["--curl"]
        case .store: ["--json", "--force"]
        default: []
        }
    }
}
