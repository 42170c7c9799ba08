import JSONDocument
import Synchronization

/// The document of one service during a unit of work. Nothing is visible outside before the commit.
package final class ServiceState: Sendable {
    package let service: RegisteredService
    /// Guards all.
    private let content: Mutex<Content>

    private struct Content: Sendable {
        var document: JSONDocument
        var change = Change.none
        /// Whose state it is; `nil` for a service without behaviour. It refers back until the locator removes it, which
        /// it does at the latest when it is deallocated.
        var object: (any StateObject)?
    }

    /// The last change of the state in the unit of work.
    enum Change: Sendable {
        case none, written, cleared, removed
    }

    init(of service: RegisteredService, document: JSONDocument) {
        self.service = service
        content = Mutex(Content(document: document))
    }

    /// The whole document. It is checked against the service's schema when the unit of work ends.
    package var document: JSONDocument {
        get { content.withLock { $0.document } }
        set { content.withLock { ($0.document, $0.change) = (newValue, .written) } }
    }

    /// Resets the state to the default.
    package func clear() {
        content.withLock { ($0.document, $0.change) = (service.default, .cleared) }
    }

    /// The locator removed the instance.
    func remove() {
        content.withLock { ($0.change, $0.object) = (.removed, nil) }
    }

    /// Whether the instance was cleared or removed.
    var isRenewed: Bool { content.withLock { $0.change == .cleared || $0.change == .removed } }

    /// Whether the locator has removed the instance.
    var isRemoved: Bool { content.withLock { $0.change == .removed } }

    /// From now on the state is what the object has.
    func follow(_ object: any StateObject) { content.withLock { $0.object = object } }

    /// The document and its last change, once no code uses the service any more.
    func outcome() throws(SessionError) -> (document: JSONDocument, change: Change) {
        let (before, object) = content.withLock { ($0.document, $0.object) }
        do {
            if let changed = try object?.change(from: before) { document = changed }
        } catch {
            throw SessionError(thrown: error, by: service.name)
        }
        return content.withLock { ($0.document, $0.change) }
    }
}
