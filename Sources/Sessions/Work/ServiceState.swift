import JSONDocument
import Synchronization

/// The document of one service during a unit of work. Nothing of it is seen outside before the unit is committed.
package final class ServiceState: Sendable {
    package let service: RegisteredService
    /// Guards the two for a look or a change.
    private let content: Mutex<(document: JSONDocument, change: Change)>

    /// What became of the state in the unit of work.
    enum Change: Sendable {
        case none, written, cleared, removed
    }

    init(of service: RegisteredService, document: JSONDocument) {
        self.service = service
        content = Mutex((document, .none))
    }

    /// The whole document. Whether it fits the service's schema is looked at when the unit of work ends.
    package var document: JSONDocument {
        get { content.withLock { $0.document } }
        set { content.withLock { $0 = (newValue, .written) } }
    }

    /// A member of the document; nil when it has none of that name. Setting nil removes it.
    package subscript(name: String) -> JSONDocument? {
        get { document[member: name] }
        set {
            content.withLock { content in
                // Not a merge patch: that can neither set a member to null nor replace one object by another.
                var members = (content.document.members ?? []).filter { !$0.name.isExactly(name) }
                if let newValue { members.append((name: name, value: newValue)) }
                content = (JSONDocument(members: members), .written)
            }
        }
    }

    /// A member that is a string.
    package subscript(string name: String) -> String? { self[name]?.string }

    /// Back to the default.
    package func clear() {
        content.withLock { $0 = (service.default, .cleared) }
    }

    /// The instance has left the locator.
    func remove() {
        content.withLock { $0.change = .removed }
    }

    /// The document as it is now, and what became of it.
    var outcome: (document: JSONDocument, change: Change) {
        content.withLock { $0 }
    }
}
