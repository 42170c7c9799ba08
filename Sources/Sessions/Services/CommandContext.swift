import ServiceLocator
import Synchronization

/// What a command that waits does with its session. Nothing of the session is held while it waits: others go on using
/// it.
///
/// ```swift
/// Command("pay", input: Card.self, waiting: { context, card in
///     let amount = try await context.update { cart, _ in cart.state.total }
///     let receipt = try await context.resolve(Bank.key).charge(card, amount)
///     try await context.update { cart, _ in cart.state.receipt = receipt }
/// })
/// ```
public struct CommandContext<Service: SessionService>: Sendable {
    private let call: WaitingCall

    init(_ call: WaitingCall) { self.call = call }

    /// A service of the process.
    public func resolve<Instance: Sendable>(_ key: ServiceKey<Instance>) throws -> Instance {
        try call.resolve(key)
    }

    /// A unit of work: what `body` changes is committed as one, or nothing is when it throws. One that changes nothing
    /// stores nothing, so it is also how to read.
    ///
    /// The first one of a call is refused when the caller's `If-Match` does not hold. Each is refused when the user who
    /// was signed in at the call has left meanwhile.
    ///
    /// - Parameter body: gets the service and the locator that has it. It may run more than once, so it changes nothing
    ///   but services.
    public func update<Result: Sendable>(
        _ body: @escaping @Sendable (Service, ServiceLocator) throws -> Result
    ) async throws -> Result {
        try await call.update { place in try body(place.object(), place.locator) }
    }
}

/// A call of a command that waits.
final class WaitingCall: Sendable {
    private let session: Session
    private let command: ServiceCommand
    private let operation: ServiceOperation
    private let caller: ServiceCaller
    /// Who was signed in when it began.
    private let userID: String?
    private let state: Mutex<(isFirst: Bool, etag: ServiceETag?)> = Mutex((true, nil))

    init(
        of command: ServiceCommand, _ operation: ServiceOperation, by caller: ServiceCaller, in session: Session,
        of userID: String?
    ) {
        self.userID = userID
        self.session = session
        self.command = command
        self.operation = operation
        self.caller = caller
    }

    /// After its last update; `nil` when there was none.
    var etag: ServiceETag? { state.withLock(\.etag) }

    func resolve<Instance: Sendable>(_ key: ServiceKey<Instance>) throws -> Instance {
        try session.environment.process.resolve(key)
    }

    /// A unit of work of the command.
    ///
    /// - Throws: what `body` throws, as it is: the command may know what to do about it.
    ///   ``SessionError/unauthenticated`` when the user has left meanwhile: what is here is another one's.
    func update<Result: Sendable>(_ body: @escaping @Sendable (ServicePlace) throws -> Result) async throws -> Result {
        let isFirst = state.withLock { state in
            defer { state.isFirst = false }
            return state.isFirst
        }
        let (result, etag) = try await session.transact { [self] pending in
            if let userID, pending.details.userID?.isExactly(userID) != true { throw SessionError.unauthenticated }
            var transaction = Transaction(in: session, by: caller)
            try transaction.journeys.settle(operation.journey, in: &pending, session.environment)
            // The caller's condition has to hold at the first one.
            if isFirst { try session.check(operation, by: caller, on: pending, &transaction.journeys) }
            let result = try session.run(command, operation, on: &pending, body)
            transaction.journeys.forget()
            return (result, try transaction.outcome(of: operation, on: pending).etag)
        }
        state.withLock { $0.etag = etag }
        return result
    }
}
