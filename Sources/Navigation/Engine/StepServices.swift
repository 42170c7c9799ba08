import JSONDocument
import ServiceLocator

/// The documents of the services during a step: each is read once, changed here, and returned as a change.
final class StepServices {
    let source: any ServiceDocuments
    private var looks: Looks
    private(set) var changes: [ServiceChange] = []
    /// What coordinators own and somebody has written, oldest first.
    var owned: [OwnedService] { living.instances }
    private var living: LivingServices<OwnedService>
    /// The changes of what coordinators own.
    private(set) var ownedChanges: [ServiceChange] = []
    var isChanged: Bool { !changes.isEmpty || !ownedChanges.isEmpty }
    /// The tasks that actions have recorded for which the journey does not wait.
    private(set) var sideTasks: [SideTask] = []
    /// How much work lists may still make.
    var work = ListWork()
    /// What has taken more work than there was, and may have been answered wrongly for that. It refuses the step.
    var overwork: Overwork?

    /// What the step has read. One value, so that several reads need one access.
    private struct Looks {
        var documents: [(service: String, document: JSONDocument)] = [] { didSet { held = nil } }
        var memory: GuardMemory
        /// The last shape that held for the documents as they are: screens of a flow often require the same.
        var held: ServiceShape?

        mutating func document(of service: String, in source: any ServiceDocuments) -> JSONDocument? {
            for place in documents.indices where documents[place].service == service {
                return documents[place].document
            }
            guard let document = source.document(of: service) else { return nil }
            documents.append((service, document))
            return document
        }
    }

    /// - Parameters:
    ///   - owned: as the journey has it. What has reached the end of its lifetime by `now` is left out.
    init(_ source: any ServiceDocuments, knowing memory: GuardMemory, owned: [OwnedService], now: Int64) {
        self.source = source
        looks = Looks(memory: memory)
        living = LivingServices(owned)
        guard !owned.isEmpty else { return }
        living.removeAll { service in
            source.lifetime(of: service.name).map { service.createdAt > 0 && now - service.createdAt >= $0 } ?? false
        }
    }

    /// The verdicts of guards on the documents.
    var memory: GuardMemory { looks.memory }

    /// Whether a guard accepts a document.
    func accepts(_ document: JSONDocument, by rule: ShapeRule) -> Bool { looks.memory.accepts(document, by: rule) }

    /// Whether the documents of services all have their shapes.
    func fit(_ shapes: [ServiceShape], seenBy owners: ServiceOwners) -> Bool {
        if shapes.isEmpty { return true }
        if owners.levels.isEmpty { return fit(shapes, &looks) }
        return shapes.allSatisfy { shape in
            guard let document = document(of: shape.service, owner: owners.owner(of: shape.service)) else {
                return false
            }
            return looks.memory.accepts(document, by: shape.rule)
        }
    }

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

    /// - Parameter owner: the coordinator that owns it, or ``ServiceOwners/session``.
    func document(of service: String, owner: Int) -> JSONDocument? {
        if owner == ServiceOwners.session { return looks.document(of: service, in: source) }
        return living[.init(owner, service)]?.document ?? source.defaultDocument(of: service)
    }

    /// The stored text of a document, if the source has it and the step has not changed the service.
    func text(of service: String, owner: Int) -> [UInt8]? {
        guard owner == ServiceOwners.session else { return nil }
        for change in changes where change.service == service { return nil }
        return source.text(of: service)
    }

    /// The session's revision at the last write; what stands for the default when it was never written.
    func version(of service: String, owner: Int) -> UInt64 {
        let revision =
            owner == ServiceOwners.session
            ? source.revision(of: service) : living[.init(owner, service)]?.revision ?? 0
        return revision == 0 ? source.defaultVersion(of: service) : revision
    }

    func write(_ document: JSONDocument, to service: String, owner: Int) {
        guard owner == ServiceOwners.session else {
            living.write(document, to: .init(owner, service))
            ownedChanges.append(ServiceChange(service: service, effect: .written(document)))
            return
        }
        know(document, as: service)
        let change = ServiceChange(service: service, effect: .written(document))
        if let last = changes.lastIndex(where: { $0.service == service }), case .written = changes[last].effect {
            changes[last] = change
        } else {
            changes.append(change)
        }
    }

    /// Runs a command; the caller makes its changes.
    func call(
        _ command: String, of service: String, with input: JSONDocument?, seenBy owners: ServiceOwners, now: Int64
    ) throws(CommandRefusal) -> CommandResult {
        var rest = work.rest
        defer {
            work.rest = rest
            if rest < 0 { noteOverwork(at: "/" + JSONPointer.escape(service)) }
        }
        return try source.call(
            command, of: service, with: input, now: now, work: &rest,
            reading: { self.document(of: $0, owner: owners.owner(of: $0)) },
            isLive: { self.isLive($0, owner: owners.owner(of: $0)) })
    }

    private func isLive(_ service: String, owner: Int) -> Bool? {
        guard owner == ServiceOwners.session else { return living.isLive(.init(owner, service)) }
        return changes.last { $0.service == service }.map { $0.effect != .removed }
    }

    /// Replaces a document by its default.
    ///
    /// - Returns: false when there is no such service.
    func renew(_ service: String, owner: Int, _ effect: ServiceChange.Effect) -> Bool {
        guard let document = source.defaultDocument(of: service) else { return false }
        guard owner == ServiceOwners.session else {
            let key = OwnedService.Key(owner, service)
            guard living.isLive(key) else { return true }
            if effect == .removed { living.remove(key) } else { living.write(document, to: key) }
            ownedChanges.append(ServiceChange(service: service, effect: effect))
            return true
        }
        know(document, as: service)
        if let last = changes.lastIndex(where: { $0.service == service }), case .written = changes[last].effect {
            changes.remove(at: last)
        }
        changes.append(ServiceChange(service: service, effect: effect))
        return true
    }

    /// Removes what coordinators own, newest first.
    func dispose(where isLeaving: (OwnedService) -> Bool) {
        ownedChanges += living.removeAll(where: isLeaving).map { ServiceChange(service: $0.name, effect: .removed) }
    }

    /// Completes what the step wrote from the defaults of the services.
    func completeOwned() {
        for service in living.instances where service.revision == 0 {
            living.write(source.completed(service.document, in: service.name), to: service.service)
        }
    }

    /// The first service whose new state does not fit its schema, with pointers that begin with the service.
    var invalid: (service: String, violations: [JSONViolation])? {
        for service in owned where service.revision == 0 {
            var violations = source.violations(of: service.document, in: service.name)
            if let violation = service.document.nestingViolation() { violations.append(violation) }
            if !violations.isEmpty {
                return (service.name, violations.within("/" + JSONPointer.escape(service.name)))
            }
        }
        for change in changes {
            guard case .written(let document) = change.effect else { continue }
            let violations = source.violations(of: document, in: change.service)
            guard violations.isEmpty else {
                return (change.service, violations.within("/" + JSONPointer.escape(change.service)))
            }
        }
        return nil
    }

    /// The changes so far, for ``rewind(to:)``.
    typealias Mark = (
        documents: [(service: String, document: JSONDocument)], changes: [ServiceChange],
        living: LivingServices<OwnedService>, ownedChanges: [ServiceChange], sideTasks: [SideTask]
    )

    var mark: Mark { (looks.documents, changes, living, ownedChanges, sideTasks) }

    func rewind(to mark: Mark) { (looks.documents, changes, living, ownedChanges, sideTasks) = mark }

    func record(_ task: SideTask) { sideTasks.append(task) }

    private func know(_ document: JSONDocument, as service: String) {
        if let place = looks.documents.firstIndex(where: { $0.service == service }) {
            looks.documents[place].document = document
        } else {
            looks.documents.append((service, document))
        }
    }
}

/// Verdicts of schemas on documents, so that no schema is applied twice: the screens of a flow often require the same,
/// and the view of a journey asks the same guards as its step.
///
/// An entry never becomes wrong: neither schemas nor documents change. A service that is written has another document
/// from then on.
public struct GuardMemory: Sendable {
    struct Answer {
        let schema: JSONSchema
        /// Compared by its address, which no other document can have while this one is kept.
        let document: JSONDocument
        let isAccepted: Bool
    }

    /// More than a step asks. Few enough to be searched quickly by a caller that asks very many things once, such as
    /// the search for a way through a large flow.
    private static let maximumAnswers = 16

    private(set) var answers: [Answer] = []

    /// Knows nothing yet.
    public init() {}

    /// The verdicts on some of the documents, so that the others are not kept in memory.
    package func about(_ isWanted: (JSONDocument) -> Bool) -> GuardMemory {
        if answers.indices.allSatisfy({ isWanted(answers[$0].document) }) { return self }
        var memory = self
        memory.answers.removeAll { !isWanted($0.document) }
        return memory
    }

    mutating func accepts(_ document: JSONDocument, by rule: ShapeRule) -> Bool {
        for place in answers.indices
        where answers[place].schema === rule.schema && answers[place].document.isIdentical(to: document) {
            return answers[place].isAccepted
        }
        let isAccepted = rule.accepts(document)
        if answers.count < Self.maximumAnswers {
            answers.append(Answer(schema: rule.schema, document: document, isAccepted: isAccepted))
        }
        return isAccepted
    }
}
