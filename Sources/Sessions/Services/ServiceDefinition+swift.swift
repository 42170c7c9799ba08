import JSONDocument
import ServiceLocator

extension ServiceDefinition {
    /// A service with behaviour.
    ///
    /// - Parameter name: which of several services of the type; `nil` for ``SessionService/name``.
    package init<Object: SessionService>(_ type: Object.Type, named name: String? = nil) {
        self.init(
            type, named: name, isOpenToFlows: true, completesFromDefault: true, isOwnable: true,
            misfit: { document in
                do throws(InvalidInput) {
                    _ = try TypedJSON.decode(Object.State.self, document)
                    return nil
                } catch {
                    return error
                }
            })
    }

    /// One whose schema says all about its state, so that a write need not decode it.
    init<Object: SessionService>(
        builtIn type: Object.Type, named name: String? = nil, completesFromDefault: Bool = false
    ) {
        self.init(
            type, named: name, isOpenToFlows: !Object.isReadOnly, completesFromDefault: completesFromDefault,
            isOwnable: false, misfit: nil)
    }

    private init<Object: SessionService>(
        _ type: Object.Type, named name: String?, isOpenToFlows: Bool, completesFromDefault: Bool, isOwnable: Bool,
        misfit: (@Sendable (JSONDocument) -> InvalidInput?)?
    ) {
        let key = ServiceInstance<Object>.key(name)
        let hooks = Object.hooks
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
            isUserBound: Object.isUserBound, isReadOnly: Object.isReadOnly, isOpenToFlows: isOpenToFlows,
            completesFromDefault: completesFromDefault, isOwnable: isOwnable,
            commands: Object.commands.map(\.declaration),
            hooks: ServiceHooks(hooks),
            misfit: misfit,
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
}
