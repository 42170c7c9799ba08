import JSONDocument
import ServiceLocator

/// One service before the catalogue is frozen: what it is, and the Swift type that shows it.
package struct ServiceDefinition: Sendable {
    package let name: String
    package let kind: String
    package let schema: JSONDocument
    package let `default`: JSONDocument
    let lifetime: Int64?
    let concurrency: ServiceConcurrency
    let isUserBound: Bool
    package let isReadOnly: Bool
    package let isOpenToFlows: Bool
    package let completesFromDefault: Bool
    let presentation: ServicePresentation?
    let register: @Sendable (inout ServiceRegistryBuilder) -> Void
    /// Makes the instance live in a locator.
    let revive: @Sendable (ServiceLocator) throws(ServiceLocatorError) -> Void

    /// - Parameters:
    ///   - key: the service's name and type.
    ///   - kind: several names may be of one kind: each is an instance of its own.
    ///   - schema: JSON Schema, draft 7.
    ///   - default: the state of a new instance, and of one that was cleared.
    ///   - isReadOnly: whether clients of the public listener can only read it.
    ///   - isOpenToFlows: whether actions of flows can write it; nil where clients can.
    ///   - completesFromDefault: whether a written state may leave members out that the schema requires: it then gets
    ///     those of the default. A client can write the members it knows, and null in a merge patch, which removes a
    ///     member, puts it back to its default.
    ///   - presentation: how the state goes out; nil for as it is kept.
    package init<Instance: DocumentBackedService>(
        _ key: ServiceKey<Instance>, kind: String, schema: JSONDocument, default: JSONDocument,
        lifetime: Int64? = nil, concurrency: ServiceConcurrency = .lastWrite, isUserBound: Bool = false,
        isReadOnly: Bool = false, isOpenToFlows: Bool? = nil, completesFromDefault: Bool = false,
        presentation: ServicePresentation? = nil
    ) {
        name = key.name
        self.kind = kind
        self.schema = schema
        self.default = `default`
        self.lifetime = lifetime
        self.concurrency = concurrency
        self.isUserBound = isUserBound
        self.isReadOnly = isReadOnly
        self.isOpenToFlows = isOpenToFlows ?? !isReadOnly
        self.completesFromDefault = completesFromDefault
        self.presentation = presentation
        register = { builder in
            builder.register(key, needs: [UnitOfWork.key.erased]) { resolver in
                Instance(state: try resolver.resolve(UnitOfWork.key).state(named: key.name))
            }
        }
        revive = { (locator) throws(ServiceLocatorError) in _ = try locator.resolve(key) }
    }

    package init(_ declaration: ServiceDeclaration) {
        self.init(
            DocumentService.key(declaration.name), kind: "document", schema: declaration.schema,
            default: declaration.default, lifetime: declaration.lifetime, concurrency: declaration.concurrency,
            isUserBound: declaration.isUserBound, isReadOnly: declaration.isReadOnly, isOpenToFlows: true)
    }
}
