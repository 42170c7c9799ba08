import Commands
@_exported import JSONDocument
@_exported import ServiceLocator
@_exported import Sessions

/// The server with services of one's own: a program that has every command of `concierge`.
///
/// ```swift
/// @main struct Shop {
///     static func main() {
///         var concierge = Concierge()
///         concierge.add(PriceList.key) { _ in PriceList() }
///         concierge.add(Cart.self)
///         concierge.run()
///     }
/// }
/// ```
public struct Concierge: Sendable {
    private var services = SwiftServices()

    /// The server with its built-in services.
    public init() {}

    /// Adds a service of the process: one instance for all sessions, made when it is first resolved.
    ///
    /// - Parameter make: makes the instance, and resolves what it needs.
    public mutating func add<Instance: Sendable>(
        _ key: ServiceKey<Instance>, _ make: @escaping @Sendable (borrowing ServiceResolver) throws -> Instance
    ) {
        services.add(key, make)
    }

    /// Adds a service that each session has.
    ///
    /// - Parameter name: another one than the type's, for several services of one type.
    public mutating func add<Service: SessionService>(_ type: Service.Type, named name: String? = nil) {
        services.add(type, named: name)
    }

    /// Runs the command that the arguments of the process name, and ends the process with its exit status.
    ///
    /// Call it from a `main` that is not asynchronous: an asynchronous one leaves the main thread to a library that
    /// unblocks all signals, and SIGTERM would end the process in the middle of its responses.
    public func run() -> Never { Program.main(adding: services) }
}
