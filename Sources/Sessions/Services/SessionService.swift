import JSONDocument
import ServiceLocator

/// A service of each session with state, behaviour and dependencies.
///
/// ```swift
/// final class Cart: SessionService {
///     struct State: Codable, Sendable { var items: [String: Int] = [:], total = 0 }
///     static let name = "cart"
///     static let initial = State()
///     static let commands: [Command<Cart>] = [
///         Command("add", input: Item.self, schema: Item.schema) { cart, item in try cart.add(item) }
///     ]
///     var state: State
///     private let prices: PriceList
///
///     init(state: State, services: borrowing ServiceResolver) throws {
///         self.state = state
///         prices = try services.resolve(PriceList.key)
///     }
/// }
/// ```
///
/// An object lives as long as a unit of work and is used by the one thread that runs it. Between two units the service
/// is its document. What `state` is at the end of a unit is committed with everything else that the unit has changed.
/// A unit may run more than once, so a service changes nothing but its state and other services.
///
/// What clients and flows write into the document must decode to a `State`; what they leave out gets the default.
public protocol SessionService: AnyObject, SendableMetatype {
    /// The content of the service's document.
    associatedtype State: Codable & Sendable

    /// The name in paths: 1 to 64 lower-case letters, digits and hyphens.
    static var name: String { get }

    /// The state of a new or cleared instance.
    static var initial: State { get }

    /// The JSON Schema (draft 7) of the document; `nil` for the shape of the default.
    static var schema: JSONDocument? { get }

    /// Whether clients can only read the document, so that commands, flows and back ends alone change it.
    static var isReadOnly: Bool { get }

    /// Whether signing out removes the instance.
    static var isUserBound: Bool { get }

    /// What clients, flows and transactions can call.
    static var commands: [Command<Self>] { get }

    /// What the service does when something happens to its instance.
    static var hooks: Hooks<Self> { get }

    /// The state, committed when the unit of work ends.
    var state: State { get set }

    /// - Parameters:
    ///   - state: the committed one, or ``initial``.
    ///   - services: what the service needs: services of the process, and others of the session.
    init(state: State, services: borrowing ServiceResolver) throws
}

extension SessionService {
    /// The shape of the default.
    public static var schema: JSONDocument? { nil }
    /// Clients write the document, too.
    public static var isReadOnly: Bool { false }
    /// The instance stays when the user signs out.
    public static var isUserBound: Bool { false }
    /// None.
    public static var commands: [Command<Self>] { [] }
    /// None.
    public static var hooks: Hooks<Self> { Hooks() }
}

extension ServiceLocator {
    /// The service of a type. The first call makes the object.
    ///
    /// - Parameter name: which of several services of the type; `nil` for ``SessionService/name``.
    public func resolve<Object: SessionService>(
        _ type: Object.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Object {
        try resolve(ServiceInstance<Object>.key(name)).object
    }
}

extension ServiceResolver {
    /// The service of a type, for a service that needs it; see ``ServiceLocator/resolve(_:named:)``.
    public func resolve<Object: SessionService>(
        _ type: Object.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Object {
        try resolve(ServiceInstance<Object>.key(name)).object
    }
}

/// The services in Swift that a program adds to the built-in ones.
package struct SwiftServices: Sendable {
    package private(set) var definitions: [ServiceDefinition] = []
    private var registrations: [@Sendable (inout ServiceRegistryBuilder) -> Void] = []

    package init() {}

    /// A service that each session has.
    ///
    /// - Parameter name: another one than the type's, for several services of one type.
    package mutating func add<Object: SessionService>(_ type: Object.Type, named name: String? = nil) {
        definitions.append(ServiceDefinition(type, named: name))
    }

    /// A service of the process, made when it is first resolved.
    package mutating func add<Instance: Sendable>(
        _ key: ServiceKey<Instance>, _ make: @escaping @Sendable (borrowing ServiceResolver) throws -> Instance
    ) {
        registrations.append { $0.register(key, scope: .process, make) }
    }

    /// Registers the services of the process.
    package func register(in builder: inout ServiceRegistryBuilder) {
        for register in registrations { register(&builder) }
    }
}
