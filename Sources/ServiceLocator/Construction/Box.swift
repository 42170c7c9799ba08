/// Any instance in the table of a locator. Always a `Box`, of the type that its key is registered with.
typealias AnyInstance = any AnyObject & Sendable

/// Carries an instance of any type as one pointer.
final class Box<Instance: Sendable>: Sendable {
    let value: Instance

    init(_ value: Instance) { self.value = value }
}

/// Gets an instance back out of its box without asking the runtime for the class of the box, which would be a third of
/// the time that it takes to resolve an instance that lives. For the same reason this is no method of that class.
///
/// The caller has compared `Instance` with the type that the registry, or the supplier, has for this box. That makes the
/// cast safe: boxes are only made by a `Factory<Instance>` of that registration and by `SuppliedService`, which notes
/// the type. Debug builds check the class. The type has no default: inferred from a result that is optional, it would be the
/// optional type.
func unbox<Instance: Sendable>(_ instance: AnyInstance, as type: Instance.Type) -> Instance {
    unsafeDowncast(instance, to: Box<Instance>.self).value
}
