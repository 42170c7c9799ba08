import JSONDocument

/// The documents of the services in the course of a step: read once, changed here, handed back as changes.
final class StepServices {
    private let source: any ServiceDocuments
    private var looks: Looks
    private(set) var changes: [ServiceChange] = []

    /// What was looked at. One value, which is asked for once for several looks.
    private struct Looks {
        var documents: [KnownDocument] = [] { didSet { held = nil } }
        var memory: GuardMemory
        /// What was found to hold last, with the documents as they are: screens of a flow often require the same.
        var held: ServiceShape?

        mutating func document(of service: String, in source: any ServiceDocuments) -> JSONDocument? {
            for place in documents.indices where documents[place].service == service {
                return documents[place].document
            }
            guard let document = source.document(of: service) else { return nil }
            documents.append(KnownDocument(service: service, document: document))
            return document
        }
    }

    fileprivate struct KnownDocument {
        let service: String
        var document: JSONDocument
    }

    init(_ source: any ServiceDocuments, knowing memory: GuardMemory) {
        self.source = source
        looks = Looks(memory: memory)
    }

    /// Whoever looks at the documents remembers here what guards made of them.
    var memory: GuardMemory { looks.memory }

    /// Whether a guard accepts a document.
    func accepts(_ document: JSONDocument, by rule: ShapeRule) -> Bool { looks.memory.accepts(document, by: rule) }

    /// Whether documents are all as they have to be.
    func fit(_ shapes: [ServiceShape]) -> Bool { shapes.isEmpty || fit(shapes, &looks) }

    private func fit(_ shapes: [ServiceShape], _ looks: inout Looks) -> Bool {
        for shape in shapes {
            if let held = looks.held, held.isSame(as: shape) { continue }
            guard let document = looks.document(of: shape.service, in: source),
                looks.memory.accepts(document, by: shape.rule)
            else { return false }
            looks.held = shape
        }
        return true
    }

    func document(of service: String) -> JSONDocument? { looks.document(of: service, in: source) }

    /// How a document is kept, if that is known and the step has not changed it.
    func text(of service: String) -> [UInt8]? {
        for change in changes where change.service == service { return nil }
        return source.text(of: service)
    }

    func write(_ document: JSONDocument, to service: String) {
        know(document, as: service)
        let change = ServiceChange(service: service, effect: .written(document))
        if let last = changes.lastIndex(where: { $0.service == service }), case .written = changes[last].effect {
            changes[last] = change
        } else {
            changes.append(change)
        }
    }

    /// - Returns: false when there is no such service.
    func renew(_ service: String, _ effect: ServiceChange.Effect) -> Bool {
        guard let document = source.defaultDocument(of: service) else { return false }
        know(document, as: service)
        if let last = changes.lastIndex(where: { $0.service == service }), case .written = changes[last].effect {
            changes.remove(at: last)
        }
        changes.append(ServiceChange(service: service, effect: effect))
        return true
    }

    /// The first service whose new state does not fit, with pointers that begin with it.
    var invalid: (service: String, violations: [JSONViolation])? {
        for change in changes {
            guard case .written(let document) = change.effect else { continue }
            let violations = source.violations(of: document, in: change.service)
            guard violations.isEmpty else {
                let root = "/" + JSONPointer.escape(change.service)
                return (
                    change.service,
                    violations.map { JSONViolation(pointer: root + $0.pointer, detail: $0.detail) }
                )
            }
        }
        return nil
    }

    /// What was done so far, to come back to.
    struct Mark {
        fileprivate let documents: [KnownDocument]
        fileprivate let changes: [ServiceChange]
    }

    var mark: Mark { Mark(documents: looks.documents, changes: changes) }

    func rewind(to mark: Mark) {
        looks.documents = mark.documents
        changes = mark.changes
    }

    private func know(_ document: JSONDocument, as service: String) {
        if let place = looks.documents.firstIndex(where: { $0.service == service }) {
            looks.documents[place].document = document
        } else {
            looks.documents.append(KnownDocument(service: service, document: document))
        }
    }
}

/// What schemas said of documents in a step, so that none is asked twice: the screens of a flow often require the same,
/// and a client is shown, by the same guards, what may happen next.
///
/// It never has to be corrected, for neither schemas nor documents change: a service that is written has another
/// document from then on.
public struct GuardMemory: Sendable {
    struct Answer {
        let schema: JSONSchema
        /// Known by its place in memory, where no other can be while this is kept.
        let document: JSONDocument
        let isAccepted: Bool
    }

    /// More than a step asks, and few enough to be looked through by one who asks very many things just once, as the
    /// search for a way through a great flow does.
    private static let maximumAnswers = 16

    private(set) var answers: [Answer] = []

    public init() {}

    /// What is known about some documents alone, so that it keeps no others.
    package func about(_ isWanted: (JSONDocument) -> Bool) -> GuardMemory {
        if answers.indices.allSatisfy({ isWanted(answers[$0].document) }) { return self }
        var memory = self
        memory.answers.removeAll { !isWanted($0.document) }
        return memory
    }

    /// Nil when nobody has asked yet.
    func answer(about document: JSONDocument, by rule: ShapeRule) -> Bool? {
        for place in answers.indices
        where answers[place].schema === rule.schema && answers[place].document.isIdentical(to: document) {
            return answers[place].isAccepted
        }
        return nil
    }

    mutating func accepts(_ document: JSONDocument, by rule: ShapeRule) -> Bool {
        if let known = answer(about: document, by: rule) { return known }
        let isAccepted = rule.accepts(document)
        if answers.count < Self.maximumAnswers {
            answers.append(Answer(schema: rule.schema, document: document, isAccepted: isAccepted))
        }
        return isAccepted
    }
}
