import ServiceLocator
import Synchronization
import Testing

private let profile = ServiceKey("profile", of: Counter.self)
private let draft = ServiceKey("draft-profile", of: Counter.self)

@Suite("Resolving")
struct ResolveTests {
    @Test("the same key gives the same instance")
    func sameInstance() throws {
        let locator = ServiceLocator(registry: try registry { $0.register(profile) { _ in Counter() } })
        #expect(try locator.resolve(profile) === locator.resolve(profile))
    }

    @Test("two names of one kind are two instances")
    func twoNames() throws {
        let locator = ServiceLocator(
            registry: try registry { builder in
                for key in [profile, draft] { builder.register(key) { Counter($0.key.name) } }
            })
        try locator.resolve(profile).increment()
        #expect(try locator.resolve(profile).value == 1)
        #expect(try locator.resolve(draft).value == 0)
        #expect(try locator.resolve(draft).name == "draft-profile")
    }

    @Test("two locators share nothing but the registry")
    func twoLocators() throws {
        let shared = try registry { $0.register(profile) { _ in Counter() } }
        let (one, other) = (ServiceLocator(registry: shared), ServiceLocator(registry: shared))
        #expect(try one.resolve(profile) !== other.resolve(profile))
    }

    @Test("nothing is made before it is asked for, and asking with existing does not count")
    func lazy() throws {
        let runs = Mutex(0)
        let locator = ServiceLocator(
            registry: try registry { builder in
                builder.register(profile) { _ in
                    runs.withLock { $0 += 1 }
                    return Counter()
                }
            })
        #expect(locator.existing(profile) == nil)
        #expect(locator.listing.map(\.isLive) == [false])
        #expect(runs.withLock { $0 } == 0)
        let made = try locator.resolve(profile)
        #expect(locator.existing(profile) === made)
        #expect(runs.withLock { $0 } == 1)
    }

    @Test("a factory that throws is tried again at the next access")
    func throwThenRetry() throws {
        let runs = Mutex(0)
        let locator = ServiceLocator(
            registry: try registry { builder in
                builder.register(profile) { _ in
                    guard
                        runs.withLock({
                            $0 += 1
                            return $0
                        }) > 2
                    else { throw Refusal() }
                    return Counter()
                }
            })
        for _ in 0..<2 {
            let error = failure { try locator.resolve(profile) }
            #expect(error?.underlying as? Refusal == Refusal())
            #expect(error?.description == "Service 'profile' could not be made.")
            #expect(locator.existing(profile) == nil)
        }
        #expect(try locator.resolve(profile).value == 0)
    }

    @Test("an error from deep below says which factory it was, once")
    func deepError() throws {
        let locator = ServiceLocator(
            registry: try registry { builder in
                builder.register(draft, needs: [profile.erased]) { try $0.resolve(profile) }
                builder.register(profile) { _ in throw Refusal() }
            })
        guard case .factoryFailed(let key, let error) = failure({ try locator.resolve(draft) }) else {
            Issue.record("no factoryFailed")
            return
        }
        #expect(key == profile.erased)
        #expect(error is Refusal)
    }

    @Test("unknown names and other types are errors that say so, and show no types")
    func unknown() throws {
        let locator = ServiceLocator(registry: try registry { $0.register(profile) { _ in Counter() } })
        let missing = failure { try locator.resolve(draft) }
        #expect(missing?.description == "There is no service 'draft-profile'.")
        let mistyped = ServiceKey("profile", of: String.self)
        let wrong = failure { try locator.resolve(mistyped) }
        #expect(wrong?.description == "Service 'profile' is of another type than it was asked for.")
        #expect(wrong?.debugDescription.contains("String") == true)
        #expect(locator.existing(mistyped) == nil)
        #expect(locator.existing(draft) == nil)
        #expect(!locator.remove(mistyped))
        #expect(!locator.remove(draft))
        #expect(throws: ServiceLocatorError.self) { try locator.clear(mistyped) }
        #expect(throws: ServiceLocatorError.self) { try locator.clear(draft) }
    }

    @Test("values, optionals and protocols can be services, of any size")
    func anyType() throws {
        let number = ServiceKey("number", of: Int.self)
        let maybe = ServiceKey("maybe", of: Int?.self)
        let nothing = ServiceKey("nothing", of: Void.self)
        let wide = ServiceKey("wide", of: SIMD16<Double>.self)
        let observer = ServiceKey("observer", of: (any ServiceObserver).self)
        let locator = ServiceLocator(
            registry: try registry { builder in
                builder.register(number) { _ in 7 }
                builder.register(maybe) { _ in nil }
                builder.register(nothing) { _ in }
                builder.register(wide) { _ in SIMD16(repeating: 0.5) }
                builder.register(observer) { _ in Journal() }
            })
        #expect(try locator.resolve(number) == 7)
        #expect(try locator.resolve(maybe) == nil)
        try locator.resolve(nothing)
        #expect(try locator.resolve(wide) == SIMD16(repeating: 0.5))
        #expect(try locator.resolve(observer) is Journal)
        locator.removeAll()
    }

    @Test("a supplied instance takes the place of a factory, and stays its supplier's")
    func supplied() throws {
        let journal = Journal()
        let shared = try registry { builder in
            builder.registerSupplied(profile)
            builder.register(draft, needs: [profile.erased]) { Counter(try $0.resolve(profile).name) }
        }
        let mine = Counter("mine", journal: journal)
        let locator = ServiceLocator(registry: shared, supplying: [SuppliedService(profile, mine)])
        #expect(try locator.resolve(profile) === mine)
        #expect(try locator.resolve(draft).name == "mine")
        #expect(locator.existing(profile) === mine)
        #expect(locator.listing.map(\.isSupplied) == [true, false])
        mine.increment()
        try locator.clear(profile)
        #expect(mine.value == 0)
        #expect(!locator.remove(profile))
        locator.removeAll()
        #expect(try locator.resolve(profile) === mine)
        #expect(journal.all.isEmpty)

        let bare = ServiceLocator(registry: shared)
        #expect(failure { try bare.resolve(draft) }?.description == "Service 'profile' was not supplied here.")
    }

    @Test("a supplied instance of another type than registered is not given out")
    func suppliedOfAnotherType() throws {
        let mistyped = SuppliedService(ServiceKey("profile", of: Int.self), 1)
        let shared = try registry { $0.registerSupplied(profile) }
        let locator = ServiceLocator(registry: shared, supplying: [mistyped])
        #expect(failure { try locator.resolve(profile) }?.description == "Service 'profile' was not supplied here.")
        #expect(locator.existing(profile) == nil)
    }

    @Test("the listing shows what is registered and what lives, in which order it was made")
    func listing() throws {
        let clock = ServiceKey("clock", of: Int.self)
        let shared = try registry { builder in
            builder.register(profile, needs: [draft.erased]) { try $0.resolve(draft) }
            builder.register(draft) { _ in Counter() }
            builder.register(clock, scope: .process) { _ in 1 }
        }
        let process = ServiceLocator(registry: shared)
        let locator = ServiceLocator(registry: shared, parent: process)
        _ = try locator.resolve(profile)
        #expect(locator.listing.map(\.name) == ["profile", "draft-profile", "clock"])
        #expect(locator.listing.map(\.typeName) == ["Counter", "Counter", "Int"])
        #expect(locator.listing.map(\.scope) == [.session, .session, .process])
        #expect(locator.listing.map(\.creationOrder) == [2, 1, nil])
        #expect(process.listing.allSatisfy { !$0.isLive })
        _ = try locator.resolve(clock)
        #expect(locator.listing.map(\.isLive) == [true, true, true])
        #expect(process.listing.map(\.isLive) == [false, false, true])
    }
}
