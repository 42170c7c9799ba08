import JSONDocument
import Navigation
import ServiceLocator
import Synchronization

/// A service of the frozen catalogue, shared by all sessions.
package final class RegisteredService: Sendable {
    package let name: String
    let nameBytes: [UInt8]
    package let kind: String
    /// Its index in the catalogue.
    package let index: UInt16
    package let `default`: JSONDocument
    /// The default as it is sent.
    package let defaultBytes: [UInt8]
    package let scope: ServiceScope
    package let lifetime: Int64?
    package let concurrency: ServiceConcurrency
    package let isUserBound: Bool
    /// Whether clients of the public listener can only read it.
    package let isReadOnly: Bool
    package let isOpenToFlows: Bool
    package let completesFromDefault: Bool
    private let presentation: ServicePresentation?
    package let schema: JSONSchema
    /// What flows are checked against.
    let entry: ServiceDirectory.Entry
    package let commands: [ServiceCommand]
    package let commandNames: [String]
    let hooks: ServiceHooks
    /// Why a document is no state of a service with behaviour; `nil` for one without.
    let misfit: (@Sendable (JSONDocument) -> InvalidInput?)?

    /// Living instances in all sessions.
    private let liveCount = Atomic<Int>(0)

    init(_ definition: ServiceDefinition, index: UInt16, schema: JSONSchema, commands: [ServiceCommand]) {
        name = definition.name
        nameBytes = Array(definition.name.utf8)
        kind = definition.kind
        self.index = index
        self.default = definition.default
        defaultBytes = definition.default.serialized()
        scope = definition.scope
        lifetime = definition.lifetime
        concurrency = definition.concurrency
        isUserBound = definition.isUserBound
        isReadOnly = definition.isReadOnly
        isOpenToFlows = definition.isOpenToFlows
        completesFromDefault = definition.completesFromDefault
        presentation = definition.presentation
        self.schema = schema
        entry = definition.entry
        self.commands = commands
        commandNames = commands.map(\.name)
        hooks = definition.hooks
        misfit = definition.misfit
    }

    /// - Throws: ``SessionError/noCommand(service:command:nearest:)``.
    package func command(named name: String) throws(SessionError) -> ServiceCommand {
        guard let command = commands.first(where: { $0.name == name }) else {
            throw .noCommand(service: self.name, command: name, nearest: NearestName.of(name, among: commandNames))
        }
        return command
    }

    /// Names occur in paths, metrics and logs. These characters need no escape in any of them.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Whether the bytes that are sent differ from those that are kept. Then only the program writes it.
    var isKeptOtherwise: Bool { presentation != nil }

    /// The bytes to send for kept bytes.
    func shown(_ bytes: [UInt8], _ environment: SessionEnvironment) -> [UInt8] {
        guard let presentation else { return bytes }
        return presentation.show(bytes, environment.timestamp) ?? defaultBytes
    }

    /// Whether an instance that was created then has expired.
    func isOver(createdAt: Int64, now: Int64) -> Bool {
        guard let lifetime else { return false }
        return now - createdAt >= lifetime
    }

    /// Living instances in all sessions. An expired instance counts until its session is written.
    package var live: Int { liveCount.load(ordering: .relaxed) }

    func countLive(_ difference: Int) {
        guard difference != 0 else { return }
        liveCount.wrappingAdd(difference, ordering: .relaxed)
    }
}
