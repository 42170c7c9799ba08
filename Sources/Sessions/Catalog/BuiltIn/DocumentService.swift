import JSONDocument
import ServiceLocator

/// A service that is its document: what the operator declares without compiling anything.
package final class DocumentService: DocumentBackedService {
    package static func key(_ name: String) -> ServiceKey<DocumentService> { ServiceKey(name) }

    package let state: ServiceState

    package init(state: ServiceState) { self.state = state }

    package var document: JSONDocument {
        get { state.document }
        set { state.document = newValue }
    }
}
