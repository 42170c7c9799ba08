import JSONDocument
import ServiceLocator

/// A service whose state is a JSON document. The instance lives as long as a unit of work, its state as long as the
/// session.
///
/// A type of its own gives names and types to the members of the document:
///
/// ```swift
/// final class ProfileService: DocumentBackedService {
///     let state: ServiceState
///     init(state: ServiceState) { self.state = state }
///     var name: String {
///         get { state[string: "name"] ?? "" }
///         set { state["name"] = JSONDocument(newValue) }
///     }
/// }
/// ```
package protocol DocumentBackedService: Service {
    var state: ServiceState { get }
    init(state: ServiceState)
}

extension DocumentBackedService {
    package func clear() { state.clear() }
}
