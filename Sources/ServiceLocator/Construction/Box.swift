/// Any instance in the table of a locator. Always a `Box`.
typealias AnyInstance = any AnyObject & Sendable

/// Carries an instance of any type as one pointer, so that getting it back is a comparison of classes and not a
/// conversion between existential types, which costs several times as much.
final class Box<Instance: Sendable>: Sendable {
    let value: Instance

    init(_ value: Instance) { self.value = value }
}
