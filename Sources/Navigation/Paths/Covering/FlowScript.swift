import JSONDocument

/// What to do with a new journey, one after the other.
public struct FlowScript: Sendable, Equatable {
    /// One line of a script.
    public enum Entry: Sendable, Equatable {
        case event(String, data: JSONDocument)
        /// Time passes, until something is due.
        case wait(milliseconds: Int64)
    }

    /// What the journey is started with; nil where the flow asks for nothing.
    public let input: JSONDocument?
    /// The lines, in order.
    public let entries: [Entry]
    /// The transitions of the flow that it takes and that no script before it does, as JSON Pointers into the file.
    public let takes: [String]

    /// A script by its lines and the transitions that it takes.
    public init(input: JSONDocument? = nil, entries: [Entry], takes: [String]) {
        self.input = input
        self.entries = entries
        self.takes = takes
    }
}

/// Scripts that together take every transition of a flow that can be taken.
public struct FlowCoverage: Sendable, Equatable {
    /// The id of the flow.
    public let flow: String
    /// The version of the flow.
    public let version: Int
    /// Scripts that together take every transition that can be taken.
    public let scripts: [FlowScript]
    /// Transitions that no script takes, and why.
    public let uncovered: [Uncovered]

    /// A transition that no script takes, and why.
    public struct Uncovered: Sendable, Equatable {
        /// A JSON Pointer into the file.
        public let transition: String
        /// A sentence without its full stop.
        public let reason: String
    }
}
