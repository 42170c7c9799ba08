/// What a service does when something happens to its instance, besides what it is asked for.
///
/// ```swift
/// static let hooks = Hooks<Cart>(
///     created: { cart in cart.state.currency = cart.prices.currency },
///     signedOut: { cart in cart.state.voucher = nil },
///     ended: { cart in cart.stock.release(cart.state.items) })
/// ```
///
/// Like commands they may run more than once, wait for nothing, and change nothing but services; ``ended`` alone acts
/// on the world outside. A service without hooks costs nothing more for those that have some.
public struct Hooks<Service: SessionService>: Sendable {
    /// What is done with the object of an instance.
    public typealias Hook = @Sendable (Service) throws -> Void

    let created: Hook?
    let signedOut: Hook?
    let ended: Hook?

    /// - Parameters:
    ///   - created: runs when the first use makes an instance, also after the former one was removed, before anything
    ///     else is done with it. What it changes is committed with what is done, or with the read. When it throws,
    ///     nothing has changed and the caller gets 500, or the ``Refusal`` if it called a command. A journey uses the
    ///     services of the session that any flow names, and those that its coordinators own.
    ///   - signedOut: runs for the living instance of the session when its user leaves: signs out, or another one is
    ///     attached. Services that are bound to the user are still there. What it changes is committed with that. When
    ///     it throws, or what it has changed cannot be kept, its changes are dropped and the log says so: the user
    ///     leaves in any case.
    ///   - ended: runs after the session has ended, with the last committed state, if there is one, the newest instance
    ///     first, at the server that has ended it. It changes nothing any more; what it throws is in the log. A session
    ///     that expired ends when the store deletes it, which a store on disk and Redis do after `expired_retention`.
    ///     It runs at most once: not when the process ends in between, when the store could not read the session, or
    ///     when Redis itself or the end of a process with a memory store drops it. What has to wait it hands to a
    ///     service of the process.
    public init(created: Hook? = nil, signedOut: Hook? = nil, ended: Hook? = nil) {
        self.created = created
        self.signedOut = signedOut
        self.ended = ended
    }
}

/// The hooks of a service in the catalogue, without its type.
struct ServiceHooks: Sendable {
    typealias Hook = @Sendable (ServicePlace) throws -> Void

    /// Resolves the service, which runs `created` for a new instance.
    private(set) var create: Hook?
    private(set) var signedOut: Hook?
    private(set) var ended: Hook?

    /// None.
    init() {}

    init<Service>(_ hooks: Hooks<Service>) {
        if hooks.created != nil { create = Self.erased { (_: Service) in } }
        signedOut = hooks.signedOut.map(Self.erased)
        ended = hooks.ended.map(Self.erased)
    }

    private static func erased<Service>(_ hook: @escaping Hooks<Service>.Hook) -> Hook {
        { place in
            let object: Service = try place.object()
            try hook(object)
        }
    }
}
