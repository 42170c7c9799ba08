import JSONDocument
import Navigation
import ServiceLocator

/// Something that a service does when a client, a flow or a transaction calls it by its name.
///
/// ```swift
/// static let commands: [Command<Cart>] = [
///     Command("add", input: Item.self, schema: Item.schema) { cart, item in try cart.add(item) },
///     Command("empty") { cart in cart.state = initial },
///     Command("pay", input: Card.self, waiting: { context, card in
///         let receipt = try await bank.charge(card)
///         try await context.update { cart, _ in cart.state.receipt = receipt }
///     }),
/// ]
/// ```
///
/// Everything that it changes, in any service of the session, is committed as one, or nothing is when it throws. A
/// ``Refusal`` is told to the client. It runs in the session's turn and may run more than once, so it does not wait and
/// changes nothing but services. One that has to wait is `waiting`: see ``CommandContext``.
///
/// Each initializer exists with and without an input, and with and without an output. An input without a schema may be
/// whatever decodes to its type, so numbers need one with bounds: arithmetic that overflows ends the program. The
/// schema of an output is for the description of the API alone.
public struct Command<Service: SessionService>: Sendable {
    let declaration: CommandDeclaration

    /// A command with an input and an output.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 letters, digits, dots, hyphens and underscores.
    ///   - schema: the JSON Schema (draft 7) of the input.
    ///   - output: that of the output.
    public init<Input: Decodable & SendableMetatype, Output: Encodable & SendableMetatype>(
        _ name: String, input: Input.Type, schema: JSONDocument = [:], output: JSONDocument = [:],
        _ body: @escaping @Sendable (Service, Input) throws -> Output
    ) {
        declaration = CommandDeclaration(
            name, input: schema, output: output,
            .direct { place, document in
                try TypedJSON.document(of: try body(place.object(), try Self.read(document)))
            })
    }

    /// A command with an input.
    public init<Input: Decodable & SendableMetatype>(
        _ name: String, input: Input.Type, schema: JSONDocument = [:],
        _ body: @escaping @Sendable (Service, Input) throws -> Void
    ) {
        declaration = CommandDeclaration(
            name, input: schema,
            .direct { place, document in
                try body(place.object(), try Self.read(document))
                return nil
            })
    }

    /// A command with an output.
    public init<Output: Encodable & SendableMetatype>(
        _ name: String, output: JSONDocument = [:], _ body: @escaping @Sendable (Service) throws -> Output
    ) {
        declaration = CommandDeclaration(
            name, output: output, .direct { place, _ in try TypedJSON.document(of: try body(place.object())) })
    }

    /// A command without input and output.
    public init(_ name: String, _ body: @escaping @Sendable (Service) throws -> Void) {
        declaration = CommandDeclaration(
            name,
            .direct { place, _ in
                try body(place.object())
                return nil
            })
    }

    /// A command with an input and an output, which has to wait.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 letters, digits, dots, hyphens and underscores.
    ///   - schema: the JSON Schema (draft 7) of the input.
    ///   - output: that of the output.
    public init<Input: Decodable & SendableMetatype, Output: Encodable & SendableMetatype>(
        _ name: String, input: Input.Type, schema: JSONDocument = [:], output: JSONDocument = [:],
        waiting body: @escaping @Sendable (CommandContext<Service>, Input) async throws -> Output
    ) {
        declaration = CommandDeclaration(
            name, input: schema, output: output,
            .waiting { call, document in
                try TypedJSON.document(of: try await body(CommandContext(call), try Self.read(document)))
            })
    }

    /// A command with an input, which has to wait.
    public init<Input: Decodable & SendableMetatype>(
        _ name: String, input: Input.Type, schema: JSONDocument = [:],
        waiting body: @escaping @Sendable (CommandContext<Service>, Input) async throws -> Void
    ) {
        declaration = CommandDeclaration(
            name, input: schema,
            .waiting { call, document in
                try await body(CommandContext(call), try Self.read(document))
                return nil
            })
    }

    /// A command with an output, which has to wait.
    public init<Output: Encodable & SendableMetatype>(
        _ name: String, output: JSONDocument = [:],
        waiting body: @escaping @Sendable (CommandContext<Service>) async throws -> Output
    ) {
        declaration = CommandDeclaration(
            name, output: output,
            .waiting { call, _ in try TypedJSON.document(of: try await body(CommandContext(call))) })
    }

    /// A command without input and output, which has to wait.
    public init(_ name: String, waiting body: @escaping @Sendable (CommandContext<Service>) async throws -> Void) {
        declaration = CommandDeclaration(
            name,
            .waiting { call, _ in
                try await body(CommandContext(call))
                return nil
            })
    }

    private static func read<Input: Decodable>(_ document: JSONDocument?) throws(SessionError) -> Input {
        do {
            return try TypedJSON.decode(Input.self, document ?? .null)
        } catch {
            throw .inputInvalid([error])
        }
    }
}

/// A command before the catalogue is frozen, without the type of its service.
struct CommandDeclaration: Sendable {
    enum Body: Sendable {
        /// Runs in the session's turn.
        case direct(@Sendable (ServicePlace, JSONDocument?) throws -> JSONDocument?)
        /// Runs outside of it.
        case waiting(@Sendable (WaitingCall, JSONDocument?) async throws -> JSONDocument?)
        /// Has no code: the file of a document service says what it does. Runs in the session's turn.
        case written(CommandDefinition)
    }

    let name: String
    /// The schema of the input; `nil` when the command takes none.
    let input: JSONDocument?
    /// The schema of the output; `nil` when the command has none.
    let output: JSONDocument?
    let body: Body

    /// Whether it waits for something, so that it cannot be a part of another unit of work.
    var waits: Bool { if case .waiting = body { true } else { false } }

    /// What its file says, if it has no code.
    var definition: CommandDefinition? { if case .written(let definition) = body { definition } else { nil } }

    init(_ name: String, input: JSONDocument? = nil, output: JSONDocument? = nil, _ body: Body) {
        self.name = name
        self.input = input
        self.output = output
        self.body = body
    }

    /// A command of a service file.
    init(_ definition: CommandDefinition) {
        self.init(
            definition.name, input: definition.accepts?.document, output: definition.outputSchema, .written(definition))
    }
}

/// Where a command finds its service.
struct ServicePlace {
    let locator: ServiceLocator
    let name: String

    func object<Service: SessionService>() throws -> Service { try locator.resolve(Service.self, named: name) }
}

/// Thrown by a command to say no: nothing changes, and the client gets 409 `command_refused` with all of this.
public struct Refusal: Error, Sendable, Equatable {
    /// For programs: stable, such as `unknown_item`.
    public let code: String
    /// The place in the input that the refusal is about (RFC 6901); empty for the whole.
    public var pointer: String { reason.pointer }
    /// A sentence for people, safe to show to the client.
    public var detail: String { reason.detail }
    package let reason: JSONViolation
    /// Whether the pointer begins with a service instead: only commands of service files say that.
    package let isOutside: Bool

    /// - Parameters:
    ///   - code: for programs: stable, such as `unknown_item`.
    ///   - pointer: the place in the input that the refusal is about.
    ///   - detail: a sentence for people, safe to show to the client.
    public init(_ code: String, at pointer: String = "", _ detail: String) {
        self.init(code, JSONViolation(pointer: pointer, detail: detail), isOutside: false)
    }

    init(_ code: String, _ reason: JSONViolation, isOutside: Bool) {
        self.code = code
        self.reason = reason
        self.isOutside = isOutside
    }

    /// The same without what it says of services that no client may know of.
    func concealing(_ hidden: Set<String>) -> Refusal {
        // The author's own words may stand at another place.
        guard isOutside, let service = JSONPointer(parsing: pointer)?.tokens.first, hidden.contains(service) else {
            return self
        }
        return Refusal(code, reason.concealing(hidden), isOutside: true)
    }
}
