import JSONDocument

/// The services of a session as a step reads them. `Sessions` implements it over a unit of work, tests over a
/// dictionary.
///
/// The engine only reads. The changes of a step are in ``Step/changes``, in order. The caller applies them together
/// with storing the journey, or does neither.
public protocol ServiceDocuments {
    /// The state of a service, or its default when it was never written; nil when there is no such service.
    func document(of service: String) -> JSONDocument?

    /// The state of a service after it was cleared or removed; nil when there is no such service.
    func defaultDocument(of service: String) -> JSONDocument?

    /// The JSON text of ``document(of:)``, where it is stored; nil makes the engine serialize the document.
    func text(of service: String) -> [UInt8]?

    /// The session's revision at the last write of a service; 0 when it was never written.
    func revision(of service: String) -> UInt64

    /// Another number when the default of a service is another one.
    func defaultVersion(of service: String) -> UInt64

    /// How long an instance of a service lives; milliseconds, nil without an end.
    func lifetime(of service: String) -> Int64?

    /// The state that is kept of a document that fits: completed from the default, where the service does that.
    func completed(_ document: JSONDocument, in service: String) -> JSONDocument

    /// Whether the patch of a migration has changed the session's services already: it does so once a session.
    func isPatched(_ patch: ServicePatch) -> Bool

    /// Why a document cannot be the state of a service, with pointers within the document; empty when it can.
    func violations(of document: JSONDocument, in service: String) -> [JSONViolation]

    /// How many more tasks a step may record for which no journey waits.
    var roomForTasks: Int { get }

    /// Runs a command of a service. It changes nothing itself: its changes are returned, and the engine makes them part
    /// of the step, for the coordinator that owns the service or for the session.
    ///
    /// A step may run it and then be undone or made again, so a command must have no other effects.
    ///
    /// - Parameters:
    ///   - input: nil when the action gives none. It has not been checked against the command's schema.
    ///   - now: the time of the step; milliseconds since 1970.
    ///   - work: how much work with lists the step may still do, for commands that are written as flows are; negative
    ///     when it was too much.
    ///   - document: the state of a service as the coordinator that calls has it in the step; nil when there is no such
    ///     service. To be asked only until the command returns, like `isLive`.
    ///   - isLive: whether an instance of the service lives for that coordinator; nil for a service of the session that
    ///     the step has not touched.
    /// - Throws: ``CommandRefusal``, also for a command that is not there and for an input that does not fit.
    func call(
        _ command: String, of service: String, with input: JSONDocument?, now: Int64, work: inout Int,
        reading document: @escaping (String) -> JSONDocument?, isLive: @escaping (String) -> Bool?
    ) throws(CommandRefusal) -> CommandResult
}

extension ServiceDocuments {
    /// No text is stored.
    public func text(of service: String) -> [UInt8]? { nil }

    /// Revisions are not counted.
    public func revision(of service: String) -> UInt64 { 0 }

    /// Defaults stay as they are.
    public func defaultVersion(of service: String) -> UInt64 { 0 }

    /// Without an end.
    public func lifetime(of service: String) -> Int64? { nil }

    /// As it is.
    public func completed(_ document: JSONDocument, in service: String) -> JSONDocument { document }

    /// No patch is known.
    public func isPatched(_ patch: ServicePatch) -> Bool { false }

    /// As many as a session may have.
    public var roomForTasks: Int { SideTask.mostOfSession }

    /// There are no commands.
    public func call(
        _ command: String, of service: String, with input: JSONDocument?, now: Int64, work: inout Int,
        reading document: @escaping (String) -> JSONDocument?, isLive: @escaping (String) -> Bool?
    ) throws(CommandRefusal) -> CommandResult {
        throw CommandRefusal([JSONViolation(pointer: "", detail: "has no command \"\(command)\"")])
    }
}

/// A change of one service by a step.
public struct ServiceChange: Sendable, Equatable {
    /// The name of the service.
    public let service: String
    /// What the step does to it.
    public let effect: Effect

    /// A change of a service.
    public init(service: String, effect: Effect) {
        self.service = service
        self.effect = effect
    }

    /// What a step does to a service.
    public enum Effect: Sendable, Equatable {
        /// The new state, which fits the schema.
        case written(JSONDocument)
        /// The service is set to its default, if an instance lives.
        case cleared
        /// The instance is removed.
        case removed
    }
}

/// The services that flows may use, for checking the flows: their names and the schemas of their documents.
public struct ServiceDirectory: Sendable {
    /// One service.
    public struct Entry: Sendable {
        /// The name of the service.
        public let name: String
        /// The JSON Schema (draft 7) of its state; nil when it has none.
        public let schema: JSONDocument?
        /// Whether actions may not write it, such as the signed-in user. Its commands may be called.
        public let isReadOnly: Bool
        /// Whether no client may know of it, so that no screen shows it.
        public let isHidden: Bool
        /// Whether to warn of a flow that alone writes it and does not own it.
        public let isOwnable: Bool
        /// What can be done to it besides writing it.
        public let commands: [ServiceDirectory.Command]
        /// Whether all sessions have the one: then flows only read it.
        public let isOfProcess: Bool

        /// A service that flows may use.
        public init(
            name: String, schema: JSONDocument? = nil, isReadOnly: Bool = false, isHidden: Bool = false,
            isOwnable: Bool = false, commands: [ServiceDirectory.Command] = [], isOfProcess: Bool = false
        ) {
            self.name = name
            self.schema = schema
            self.isReadOnly = isReadOnly
            self.isHidden = isHidden
            self.isOwnable = isOwnable
            self.commands = commands
            self.isOfProcess = isOfProcess
        }
    }

    /// The names of all services, sorted.
    public let names: [String]
    /// The names of the services that belong to a flow, as far as only one flow uses them.
    package let ownable: Set<String>
    /// The names of the services that no client may know of.
    package let hidden: Set<String>
    private let entries: [String: Entry]

    /// Of several entries with one name, the first counts.
    public init(_ entries: [Entry]) {
        names = entries.map(\.name).sorted()
        ownable = Set(entries.filter(\.isOwnable).map(\.name))
        hidden = Set(entries.filter(\.isHidden).map(\.name))
        self.entries = Dictionary(entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The service of that name.
    public subscript(name: String) -> Entry? { entries[name] }
}

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
        /// The services that it uses, where its file says that.
        public let services: Set<String>
        /// The languages in which it speaks to people.
        public let languages: [String]

        /// A command that flows may call, unless it waits.
        public init(
            name: String, input: JSONDocument? = nil, output: JSONDocument = true, waits: Bool = false,
            services: Set<String> = [], languages: [String] = []
        ) {
            self.name = name
            self.input = input
            self.output = output
            self.waits = waits
            self.services = services
            self.languages = languages
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
    /// The reasons.
    public let violations: [JSONViolation]
    /// Whether the pointers begin with a service; else they are within the command's input, and the empty one means the
    /// service that has the command.
    public let isOutside: Bool

    /// A refusal for these reasons.
    public init(_ violations: [JSONViolation], isOutside: Bool = false) {
        self.violations = violations
        self.isOutside = isOutside
    }
}
