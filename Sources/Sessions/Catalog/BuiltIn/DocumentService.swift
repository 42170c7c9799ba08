import JSONDocument
import ServiceLocator

/// A service that is its document: what the operator declares in a file. A service in Swift reads it, and one of its
/// session also writes it:
///
/// ```swift
/// let soup = try services.resolve(DocumentService.key("menu")).document[member: "soup"]?.string
/// ```
public final class DocumentService: Service {
    /// - Parameter name: as in the file.
    public static func key(_ name: String) -> ServiceKey<DocumentService> { ServiceKey(name) }

    private let state: ServiceState

    init(state: ServiceState) { self.state = state }

    /// The document. What is set is checked when the unit of work ends, against the schema of the file; a document of
    /// the process is refused then.
    public var document: JSONDocument {
        get { state.document }
        set { state.document = newValue }
    }

    /// Back to the default of the file.
    public func clear() { state.clear() }
}
