import JSONDocument
import ServiceLocator

/// A service before the catalogue is frozen: what it is, and its Swift type.
package struct ServiceDefinition: Sendable {
    package let name: String
    package let kind: String
    package let schema: JSONDocument
    package let `default`: JSONDocument
    let scope: ServiceScope
    let lifetime: Int64?
    let concurrency: ServiceConcurrency
    let isUserBound: Bool
    package let isReadOnly: Bool
    package let isOpenToFlows: Bool
    package let completesFromDefault: Bool
    let presentation: ServicePresentation?
    /// Whether flows can let a coordinator own an instance; those that are built in are the session's.
    package let isOwnable: Bool
    let commands: [CommandDeclaration]
    let hooks: ServiceHooks
    /// Why a document is no state of a service with behaviour; `nil` for one without.
    let misfit: (@Sendable (JSONDocument) -> InvalidInput?)?
    /// What is wrong with it; the catalogue reports that.
    let problems: [String]
    let register: @Sendable (inout ServiceRegistryBuilder) -> Void

    init(
        name: String, kind: String, schema: JSONDocument, default: JSONDocument, scope: ServiceScope = .session,
        lifetime: Int64? = nil,
        concurrency: ServiceConcurrency = .lastWrite, isUserBound: Bool, isReadOnly: Bool, isOpenToFlows: Bool,
        completesFromDefault: Bool, presentation: ServicePresentation? = nil, isOwnable: Bool,
        commands: [CommandDeclaration] = [], hooks: ServiceHooks = ServiceHooks(),
        misfit: (@Sendable (JSONDocument) -> InvalidInput?)? = nil,
        problems: [String] = [],
        register: @escaping @Sendable (inout ServiceRegistryBuilder) -> Void
    ) {
        self.name = name
        self.kind = kind
        self.schema = schema
        self.default = `default`
        self.scope = scope
        self.lifetime = lifetime
        self.concurrency = concurrency
        self.isUserBound = isUserBound
        self.isReadOnly = isReadOnly
        self.isOpenToFlows = isOpenToFlows
        self.completesFromDefault = completesFromDefault
        self.presentation = presentation
        self.isOwnable = isOwnable
        self.commands = commands
        self.hooks = hooks
        self.misfit = misfit
        self.problems = problems
        self.register = register
    }

    /// - Parameters:
    ///   - key: the service's name and type.
    ///   - kind: services of one kind with different names are separate instances.
    ///   - schema: JSON Schema, draft 7.
    ///   - default: the state of a new or cleared instance.
    ///   - scope: whether each session has an instance, or the process one for all.
    ///   - isReadOnly: whether clients of the public listener can only read it.
    ///   - isOpenToFlows: whether actions of flows can write it; `nil` for the same as clients.
    ///   - completesFromDefault: whether a written state may leave members out that the schema requires: it then gets
    ///     those of the default. A client can write the members it knows, and null in a merge patch, which removes a
    ///     member, puts it back to its default.
    ///   - presentation: how the state is sent; `nil` to send it as it is kept.
    package init<Instance: DocumentBackedService>(
        _ key: ServiceKey<Instance>, kind: String, schema: JSONDocument, default: JSONDocument,
        scope: ServiceScope = .session, lifetime: Int64? = nil, concurrency: ServiceConcurrency = .lastWrite,
        isUserBound: Bool = false,
        isReadOnly: Bool = false, isOpenToFlows: Bool? = nil, completesFromDefault: Bool = false,
        presentation: ServicePresentation? = nil
    ) {
        self.init(
            name: key.name, kind: kind, schema: schema, default: `default`, scope: scope, lifetime: lifetime,
            concurrency: concurrency, isUserBound: isUserBound, isReadOnly: isReadOnly,
            isOpenToFlows: isOpenToFlows ?? !isReadOnly, completesFromDefault: completesFromDefault,
            presentation: presentation, isOwnable: Instance.self == DocumentService.self && scope == .session,
            register: { builder in
                builder.register(key, needs: [UnitOfWork.key.erased]) { resolver in
                    try UnitOfWork.make(key.name, resolver) { state, _ in Instance(state: state) }
                }
            })
    }

    package init(_ declaration: ServiceDeclaration) {
        self.init(
            DocumentService.key(declaration.name), kind: "document", schema: declaration.schema,
            default: declaration.default, scope: declaration.scope, lifetime: declaration.lifetime,
            concurrency: declaration.concurrency, isUserBound: declaration.isUserBound,
            isReadOnly: declaration.isReadOnly || declaration.scope == .process,
            isOpenToFlows: declaration.scope == .session)
    }
}
