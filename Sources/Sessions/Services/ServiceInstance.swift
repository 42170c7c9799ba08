import JSONDocument
import ServiceLocator

/// A ``SessionService`` in a locator: its object, and the document that the object's state becomes.
///
/// `@unchecked Sendable`: the thread that runs the unit of work makes it and is the only one that uses it, and the
/// locator that holds it ends with the unit.
final class ServiceInstance<Object: SessionService>: Service, StateObject, @unchecked Sendable {
    static func key(_ name: String?) -> ServiceKey<ServiceInstance<Object>> { ServiceKey(name ?? Object.name) }

    let object: Object
    private let state: ServiceState
    /// The object's state when it was made or cleared.
    private var former: Object.State

    init(_ state: ServiceState, _ services: borrowing ServiceResolver) throws {
        self.state = state
        former = try state.service.decode(Object.State.self, state.document)
        object = try Object(state: former, services: services)
        state.follow(self)
    }

    func clear() {
        former = Object.initial
        object.state = former
        state.clear()
    }

    func change(from document: JSONDocument) throws -> JSONDocument? {
        let new = try TypedJSON.document(of: object.state)
        // The document may say the same in another way, or have members that the type does not know.
        if try new == document || new == TypedJSON.document(of: former) { return nil }
        return new
    }
}

/// An object whose state is the state of a service.
protocol StateObject: AnyObject, Sendable {
    /// The object's state; `nil` when it is what it was.
    func change(from document: JSONDocument) throws -> JSONDocument?
}

extension RegisteredService {
    /// The state that a document says. An older program may have written it, so members that it lacks get their
    /// defaults.
    ///
    /// - Throws: ``SessionError/invalid(_:)`` when it is of another type.
    func decode<State: Decodable>(_ type: State.Type, _ document: JSONDocument) throws(SessionError) -> State {
        do {
            return try TypedJSON.decode(type, document)
        } catch {
            guard let whole = completed(document) else { throw .invalid([error]) }
            do { return try TypedJSON.decode(type, whole) } catch { throw .invalid([error]) }
        }
    }
}
