import JSONDocument
import Navigation
import ServiceLocator

/// A service before the catalogue is frozen: what it is, and its Swift type.
package struct ServiceDefinition: Sendable {
    package let name: String
    /// Services of one kind with different names are separate instances.
    package let kind: String
    /// JSON Schema, draft 7.
    package let schema: JSONDocument
    /// The state of a new or cleared instance.
    package let `default`: JSONDocument
    /// Whether each session has an instance, or the process one for all.
    var scope = ServiceScope.session
    var lifetime: Int64?
    var concurrency = ServiceConcurrency.lastWrite
    let isUserBound: Bool
    /// Whether clients of the public listener do not know of it. Then they do not write it either.
    var isHidden = false
    /// Whether clients of the public listener can only read it.
    package let isReadOnly: Bool
    /// Whether actions of flows and the code of other services can write it.
    package let isOpenToFlows: Bool
    /// Whether a written state may leave members out that the schema requires: it then gets those of the default. A
    /// client can write the members it knows, and null in a merge patch, which removes a member, puts it back to its
    /// default.
    package let completesFromDefault: Bool
    /// Whether the bytes that are sent differ from those that are kept. Then only the program writes it, and its
    /// default is kept and sent unchanged.
    var isKeptOtherwise = false
    /// Whether flows can let a coordinator own an instance; those that are built in are the session's.
    package let isOwnable: Bool
    var commands: [CommandDeclaration] = []
    var hooks = ServiceHooks()
    /// Why a document is no state of a service with behaviour; `nil` for one without.
    var misfit: (@Sendable (JSONDocument) -> JSONViolation?)?
    /// What is wrong with it; the catalogue reports that.
    var problems: [String] = []
    let register: @Sendable (inout ServiceRegistryBuilder) -> Void
}

extension ServiceDefinition {
    /// A service that is its document.
    init(
        document name: String, kind: String, schema: JSONDocument, default: JSONDocument,
        scope: ServiceScope = .session, lifetime: Int64? = nil, concurrency: ServiceConcurrency = .lastWrite,
        isUserBound: Bool = false, isReadOnly: Bool, isOpenToFlows: Bool, isKeptOtherwise: Bool = false,
        isOwnable: Bool
    ) {
        self.init(
            name: name, kind: kind, schema: schema, default: `default`, scope: scope, lifetime: lifetime,
            concurrency: concurrency, isUserBound: isUserBound, isReadOnly: isReadOnly, isOpenToFlows: isOpenToFlows,
            completesFromDefault: false, isKeptOtherwise: isKeptOtherwise, isOwnable: isOwnable,
            register: { builder in
                builder.register(DocumentService.key(name), needs: [UnitOfWork.key.erased]) { resolver in
                    try UnitOfWork.make(name, resolver) { state, _ in DocumentService(state: state) }
                }
            })
    }

    /// A document service as the operator declares it, without code of its own.
    ///
    /// - Parameters:
    ///   - schema: JSON Schema, draft 7.
    ///   - scope: whether each session has an instance, or the process one for all, which the admin listener writes.
    ///   - lifetime: of an instance, from its creation; then it counts as removed. In milliseconds; `nil` for no end.
    ///   - isUserBound: whether signing out removes the instance.
    ///   - isReadOnly: whether clients of the public listener can only read it. Flows, commands and the admin listener
    ///     write it in any case.
    ///   - isHidden: whether they cannot even do that.
    ///   - commands: as the file says them.
    package init(
        declared name: String, schema: JSONDocument = true, default: JSONDocument = .emptyObject,
        scope: ServiceScope = .session, lifetime: Int64? = nil, concurrency: ServiceConcurrency = .lastWrite,
        isUserBound: Bool = false, isReadOnly: Bool = false, isHidden: Bool = false,
        commands: [CommandDefinition] = []
    ) {
        self.init(
            document: name, kind: "document", schema: schema, default: `default`, scope: scope, lifetime: lifetime,
            concurrency: concurrency, isUserBound: isUserBound,
            isReadOnly: isReadOnly || isHidden || scope == .process,
            isOpenToFlows: scope == .session, isOwnable: scope == .session)
        self.isHidden = isHidden
        self.commands = commands.map(CommandDeclaration.init)
    }

    /// A service with behaviour.
    ///
    /// - Parameter name: which of several services of the type; `nil` for ``SessionService/name``.
    package init<Object: SessionService>(_ type: Object.Type, named name: String? = nil) {
        self.init(type, named: name, isBuiltIn: false, completesFromDefault: true)
    }

    /// One whose schema says all about its state, so that a write need not decode it.
    init<Object: SessionService>(
        builtIn type: Object.Type, named name: String? = nil, completesFromDefault: Bool = false
    ) {
        self.init(type, named: name, isBuiltIn: true, completesFromDefault: completesFromDefault)
    }

    private init<Object: SessionService>(
        _ type: Object.Type, named name: String?, isBuiltIn: Bool, completesFromDefault: Bool
    ) {
        let key = ServiceInstance<Object>.key(name)
        let hooks = Object.hooks
        let misfit: @Sendable (JSONDocument) -> JSONViolation? = { document in
            do throws(JSONViolation) {
                _ = try TypedJSON.decode(Object.State.self, document)
                return nil
            } catch {
                return error
            }
        }
        var problems: [String] = []
        if !RegisteredService.isName(key.name) {
            problems.append(
                "Service '\(key.name)': a name has 1 to 64 lower-case letters, digits and hyphens.")
        }
        var initial = JSONDocument.emptyObject
        do {
            initial = try TypedJSON.document(of: Object.initial)
        } catch {
            problems.append("The initial state of service '\(key.name)' cannot be encoded: \(error)")
        }
        self.init(
            name: key.name, kind: Object.name, schema: Object.schema ?? initial.shape, default: initial,
            isUserBound: Object.isUserBound, isReadOnly: Object.isReadOnly,
            isOpenToFlows: !isBuiltIn || !Object.isReadOnly, completesFromDefault: completesFromDefault,
            isOwnable: !isBuiltIn, commands: Object.commands.map(\.declaration), hooks: ServiceHooks(hooks),
            misfit: isBuiltIn ? nil : misfit,
            problems: problems,
            register: { builder in
                builder.register(key, needs: [UnitOfWork.key.erased]) { resolver in
                    try UnitOfWork.make(key.name, resolver) { state, isNew in
                        let instance = try ServiceInstance<Object>(state, resolver)
                        if isNew { try hooks.created?(instance.object) }
                        return instance
                    }
                }
            })
    }

    /// The services of every installation. A new one is a file of its own and its name here.
    package static let builtIn: [ServiceDefinition] = [
        ServiceDefinition(builtIn: ProfileService.self, completesFromDefault: true),
        ServiceDefinition(builtIn: ProfileService.self, named: "temporary-profile", completesFromDefault: true),
        ServiceDefinition(builtIn: QuoteService.self),
        ServiceDefinition(builtIn: UserService.self),
        CoordinatorService.definition,
    ]
}

/// Whether a write must say which state it replaces.
package enum ServiceConcurrency: String, Sendable, CaseIterable {
    /// It need not: the last write stays.
    case lastWrite = "last_write"
    /// PUT and PATCH need a condition. Clearing and removing do not, because they depend on no earlier content.
    case firstWrite = "first_write"
}
