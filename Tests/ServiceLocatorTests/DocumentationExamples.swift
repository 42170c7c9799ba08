import ServiceLocator
import Synchronization
import Testing

// The examples of docs/service-locator.md, compiled and run. The text between the markers is the text of the page; a
// test compares the two.

// snippet: cart
final class Cart: Service {
    private let items = Mutex<[String]>([])

    func add(_ item: String) { items.withLock { $0.append(item) } }
    var count: Int { items.withLock { $0.count } }

    func clear() { items.withLock { $0 = [] } }
}
// end

// snippet: keys
enum Keys {
    static let cart = ServiceKey("cart", of: Cart.self)
    static let wishList = ServiceKey("wish-list", of: Cart.self)
    static let prices = ServiceKey("prices", of: PriceList.self)
    static let checkout = ServiceKey("checkout", of: Checkout.self)
}
// end

// snippet: checkout
struct PriceList: Sendable {
    var prices: [String: Int]
}

final class Checkout: Sendable {
    private let cart: Cart
    private let prices: PriceList

    init(cart: Cart, prices: PriceList) {
        self.cart = cart
        self.prices = prices
    }

    func total(of item: String) -> Int { cart.count * (prices.prices[item] ?? 0) }
}
// end

// snippet: registry
func shopServices() -> ServiceRegistryBuilder {
    var services = ServiceRegistryBuilder()
    services.register(Keys.cart) { _ in Cart() }
    services.register(Keys.wishList) { _ in Cart() }
    services.register(Keys.prices, scope: .process) { _ in PriceList(prices: ["apple": 3]) }
    services.register(Keys.checkout, needs: [Keys.cart.erased, Keys.prices.erased]) { resolver in
        Checkout(cart: try resolver.resolve(Keys.cart), prices: try resolver.resolve(Keys.prices))
    }
    return services
}
// end

@Suite("The examples of the documentation")
struct DocumentationExamples {
    @Test("first steps")
    func firstSteps() throws {
        // snippet: first-steps
        let registry = try shopServices().freeze()
        let locator = ServiceLocator(registry: registry)

        let cart = try locator.resolve(Keys.cart)
        cart.add("apple")
        let checkout = try locator.resolve(Keys.checkout)
        #expect(checkout.total(of: "apple") == 3)
        // end
    }

    @Test("two registrations of a kind")
    func twoOfAKind() throws {
        let locator = ServiceLocator(registry: try shopServices().freeze())
        // snippet: two-of-a-kind
        try locator.resolve(Keys.cart).add("apple")
        #expect(try locator.resolve(Keys.cart).count == 1)
        #expect(try locator.resolve(Keys.wishList).count == 0)
        // end
    }

    @Test("process and sessions")
    func processAndSessions() throws {
        // snippet: process
        let registry = try shopServices().freeze()
        let process = ServiceLocator(registry: registry)
        let ada = ServiceLocator(registry: registry, parent: process)
        let bob = ServiceLocator(registry: registry, parent: process)

        try ada.resolve(Keys.cart).add("apple")
        #expect(try bob.resolve(Keys.cart).count == 0)

        _ = try ada.resolve(Keys.prices)
        #expect(process.existing(Keys.prices) != nil)
        #expect(process.existing(Keys.cart) == nil)
        // end
    }

    @Test("supplied instances")
    func supplied() throws {
        // snippet: supplied
        struct Visitor: Sendable {
            var name: String
        }
        let visitor = ServiceKey("visitor", of: Visitor.self)
        let greeting = ServiceKey("greeting", of: String.self)

        var services = ServiceRegistryBuilder()
        services.registerSupplied(visitor)
        services.register(greeting, needs: [visitor.erased]) { "Hello, \(try $0.resolve(visitor).name)" }
        let registry = try services.freeze()

        let locator = ServiceLocator(
            registry: registry, supplying: [SuppliedService(visitor, Visitor(name: "Ada"))])
        #expect(try locator.resolve(greeting) == "Hello, Ada")
        // end
    }

    @Test("clear and remove")
    func clearAndRemove() throws {
        let locator = ServiceLocator(registry: try shopServices().freeze())
        // snippet: clear-and-remove
        let cart = try locator.resolve(Keys.cart)
        cart.add("apple")

        try locator.clear(Keys.cart)
        #expect(cart.count == 0)
        #expect(try locator.resolve(Keys.cart) === cart)

        locator.remove(Keys.cart)
        #expect(locator.existing(Keys.cart) == nil)
        #expect(try locator.resolve(Keys.cart) !== cart)
        // end
    }

    @Test("without any locator")
    func withoutLocator() {
        // snippet: without-locator
        let cart = Cart()
        let checkout = Checkout(cart: cart, prices: PriceList(prices: ["pear": 5]))
        cart.add("pear")
        #expect(checkout.total(of: "pear") == 5)
        // end
    }

    @Test("replacing")
    func replacing() throws {
        // snippet: replacing
        var services = shopServices()
        services.replace(Keys.prices) { _ in PriceList(prices: ["apple": 100]) }
        let locator = ServiceLocator(registry: try services.freeze())

        try locator.resolve(Keys.cart).add("apple")
        #expect(try locator.resolve(Keys.checkout).total(of: "apple") == 100)
        // end
    }

    @Test("declared problems")
    func declaredProblems() throws {
        // snippet: declared-problems
        let hen = ServiceKey("hen", of: String.self)
        let egg = ServiceKey("egg", of: String.self)

        var services = shopServices()
        services.register(hen, needs: [egg.erased]) { try $0.resolve(egg) }
        services.register(egg, needs: [hen.erased]) { try $0.resolve(hen) }
        services.register(Keys.cart) { _ in Cart() }
        do {
            _ = try services.freeze()
        } catch {
            #expect(error.problems == [.registeredTwice("cart"), .cycle(["hen", "egg", "hen"])])
        }
        // end
    }
}
