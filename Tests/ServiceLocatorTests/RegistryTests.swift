import ServiceLocator
import Testing

private func key(_ name: String) -> ServiceKey<Counter> { ServiceKey(name) }

@Suite("The registry")
struct RegistryTests {
    private func problems(_ fill: (inout ServiceRegistryBuilder) -> Void) -> [ServiceRegistryError.Problem] {
        do {
            _ = try registry(fill)
            return []
        } catch {
            return (error as? ServiceRegistryError)?.problems ?? []
        }
    }

    @Test("all problems are told at once, each with what to do")
    func allAtOnce() throws {
        var builder = ServiceRegistryBuilder()
        for _ in 0..<2 { builder.register(key("twice")) { _ in Counter() } }
        builder.register(key("two-types")) { _ in Counter() }
        builder.register(ServiceKey("two-types", of: Int.self)) { _ in 0 }
        builder.register(key("needy"), needs: [key("nobody").erased, ServiceKey<Int>("a").erased]) { _ in Counter() }
        builder.register(key("process"), scope: .process, needs: [key("a").erased]) { _ in Counter() }
        builder.register(key("a"), needs: [key("b").erased]) { _ in Counter() }
        builder.register(key("b"), needs: [key("c").erased, key("twice").erased]) { _ in Counter() }
        builder.register(key("c"), needs: [key("a").erased]) { _ in Counter() }
        builder.replace(key("renamed")) { _ in Counter() }
        let error = #expect(throws: ServiceRegistryError.self) { try builder.freeze() }
        #expect(
            error?.problems == [
                .registeredTwice("twice"), .twoTypes("two-types"),
                .needNotRegistered(service: "needy", need: "nobody"), .needOfAnotherType(service: "needy", need: "a"),
                .processNeedsSession(process: "process", session: "a"), .cycle(["a", "b", "c", "a"]),
                .nothingToReplace("renamed"),
            ])
        #expect(error?.description.split(separator: "\n").count == 7)
        #expect(error?.description.contains("Services need each other: a → b → c → a.") == true)
    }

    @Test("a service that declares a need for itself is a cycle")
    func itself() {
        #expect(
            problems { $0.register(key("a"), needs: [key("a").erased]) { _ in Counter() } } == [.cycle(["a", "a"])])
    }

    @Test("two cycles that share a service are two problems")
    func twoCycles() {
        let found = problems { builder in
            builder.register(key("a"), needs: [key("b").erased, key("c").erased]) { _ in Counter() }
            builder.register(key("b"), needs: [key("a").erased]) { _ in Counter() }
            builder.register(key("c"), needs: [key("a").erased]) { _ in Counter() }
        }
        #expect(found == [.cycle(["a", "b", "a"]), .cycle(["a", "c", "a"])])
    }

    @Test("needs that meet again are no cycle")
    func diamond() {
        let found = problems { builder in
            builder.register(key("a"), needs: [key("b").erased, key("c").erased]) { _ in Counter() }
            builder.register(key("b"), needs: [key("d").erased]) { _ in Counter() }
            builder.register(key("c"), needs: [key("d").erased]) { _ in Counter() }
            builder.register(key("d"), scope: .process) { _ in Counter() }
        }
        #expect(found.isEmpty)
    }

    @Test("a replaced factory serves the copy alone, and keeps its place and scope")
    func replace() throws {
        let original = try registry { builder in
            builder.register(key("a"), scope: .process) { _ in Counter("real") }
            builder.register(key("b"), needs: [key("a").erased]) { try $0.resolve(key("a")) }
        }
        var builder = ServiceRegistryBuilder(original)
        builder.replace(key("a")) { _ in Counter("stub") }
        let changed = try builder.freeze()
        #expect(changed.keys == original.keys)
        #expect(ServiceLocator(registry: changed).listing.map(\.scope) == [.process, .session])
        #expect(try ServiceLocator(registry: changed).resolve(key("b")).name == "stub")
        #expect(try ServiceLocator(registry: original).resolve(key("b")).name == "real")
    }

    @Test("a replacement of another type is a problem")
    func replaceOtherType() {
        let found = problems { builder in
            builder.register(key("a")) { _ in Counter() }
            builder.replace(ServiceKey("a", of: Int.self)) { _ in 1 }
        }
        #expect(found == [.nothingToReplace("a")])
    }
}
