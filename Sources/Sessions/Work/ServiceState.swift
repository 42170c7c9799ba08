import JSONDocument
import Synchronization

/// The document of one service during a unit of work. Nothing is visible outside before the commit.
package final class ServiceState: Sendable {
    package let service: RegisteredService
    /// Guards both.
    private let content: Mutex<(document: JSONDocument, change: Change)>

    /// The last change of the state in the unit of work.
    enum Change: Sendable {
        case none, written, cleared, removed
    }

    init(of service: RegisteredService, document: JSONDocument) {
        self.service = service
        content = Mutex((document, .none))
    }

    /// The whole document. It is checked against the service's schema when the unit of work ends.
    package var document: JSONDocument {
        get { content.withLock { $0.document } }
        set { content.withLock { $0 = (newValue, .written) } }
    }

    /// A member of the document; `nil` when there is no such member. Setting `nil` removes the member.
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

    /// Resets the state to the default.
    package func clear() {
        content.withLock { $0 = (service.default, .cleared) }
    }

    /// The locator removed the instance.
    func remove() {
        content.withLock { $0.change = .removed }
    }

    /// The document and its last change.
    var outcome: (document: JSONDocument, change: Change) {
        content.withLock { $0 }
    }
}
