import JSONDocument

extension ServiceDirectory {
    /// A command of a service, for checking the flows that call it.
    public struct Command: Sendable {
        /// The name, unique within the service.
        public let name: String
        /// The JSON Schema (draft 7) of its input; nil when it takes none.
        public let input: JSONDocument?
        /// The JSON Schema (draft 7) of its output: `true` when nothing is known of it, `false` when it has none.
        public let output: JSONDocument
        /// Whether it waits for something outside. A step waits for nothing, so flows cannot call it.
        public let waits: Bool

        /// A command that flows may call, unless it waits.
        public init(name: String, input: JSONDocument? = nil, output: JSONDocument = true, waits: Bool = false) {
            self.name = name
            self.input = input
            self.output = output
            self.waits = waits
        }
    }
}

/// What a command has done.
public struct CommandResult: Sendable, Equatable {
    /// What it returns; nil for nothing.
    public let output: JSONDocument?
    /// What it changes, of its own service and of others, in order.
    public let changes: [ServiceChange]

    /// The result of a command.
    public init(output: JSONDocument? = nil, changes: [ServiceChange] = []) {
        self.output = output
        self.changes = changes
    }
}

/// Why a command was not run, or did nothing.
public struct CommandRefusal: Error, Sendable, Equatable {
    /// The reasons. Pointers are within the command's input; the empty one means the service.
    public let violations: [JSONViolation]

    /// A refusal for these reasons.
    public init(_ violations: [JSONViolation]) { self.violations = violations }
}
