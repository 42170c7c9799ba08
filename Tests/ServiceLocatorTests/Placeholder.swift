import Testing
import ServiceLocator

final class Thing: Service { func clear() {} }

@Test func smoke() throws {
    let a = ServiceKey("a", of: Thing.self), b = ServiceKey("b", of: Thing.self)
    var builder = ServiceRegistryBuilder()
    builder.register(a) { resolver in _ = try resolver.resolve(b); return Thing() }
    builder.register(b) { _ in Thing() }
    let locator = ServiceLocator(registry: try builder.freeze())
    #expect(try locator.resolve(a) === locator.resolve(a))
    #expect(try locator.resolve(a) !== locator.resolve(b))
    #expect(locator.listing.map(\.creationOrder) == [2, 1])
    #expect(throws: Never.self) { try locator.clear(a) }
    locator.removeAll()
}
