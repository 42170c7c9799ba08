import ConciergeClient
import Foundation
import Support
import Synchronization
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A whole server with the flows and services of `config`, on a free port.
func withServer<Result: Sendable>(
    _ body: @Sendable (URL, RunningApplication) async throws -> Result
) async throws -> Result {
    try await withApplication(services: ShippedFiles.services(), flows: ShippedFiles.flows()) { app in
        try await body(try #require(URL(string: "http://127.0.0.1:\(app.publicPort)")), app)
    }
}

@Suite("ConciergeClient with a server on a port", .timeLimit(.minutes(1)))
struct ConciergeClientTests {
    // MARK: Sessions

    @Test("a token resumes its session; a dead one gives a new session, or a problem to those who insist")
    func sessions() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url, labels: ["device": "phone"])
            let info = try await session.info()
            #expect(info.labels == ["device": "phone"])
            #expect(info.expiresAt > info.idleExpiresAt && info.idleExpiresAt > info.createdAt)
            let again = try await Session.open(at: url, token: session.token)
            #expect(try await again.info().id == info.id)
            try await again.end()
            #expect(again.hasEnded && !session.hasEnded)
            let refused = await #expect(throws: Problem.self) { try await session.info() }
            #expect(refused?.status == 401 && refused?.code == "unauthenticated" && refused?.requestID != nil)
            #expect(session.hasEnded)
            await #expect(throws: Problem.self) { try await Session.resume(at: url, token: session.token) }
            let fresh = try await Session.open(at: url, token: session.token)
            #expect(try await fresh.info().id != info.id)
        }
    }

    @Test("a server that is published under a path is used there, whether or not its address has a final slash")
    func basePath() async throws {
        try await withApplication(setting: \.basePath, to: "/shop/v1") { app in
            for slash in ["", "/"] {
                let url = try #require(URL(string: "http://127.0.0.1:\(app.publicPort)/shop/v1\(slash)"))
                let session = try await Session.open(at: url)
                #expect(try await Session.resume(at: url, token: session.token).info().id == session.info().id)
            }
        }
    }

    @Test("a server that cannot be reached is a problem with status 0")
    func offline() async throws {
        // No server gets this port, since it is never a free one.
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        let refused = await #expect(throws: Problem.self) { try await Session.open(at: url) }
        #expect(refused?.status == 0 && refused?.code == "offline")
    }

    // MARK: Services

    @Test("no update is lost, whoever writes at once, and members that a type does not know stay")
    func updates() async throws {
        struct Name: Codable { var name: String }
        struct Notes: Codable { var attributes: [String: Int] }
        final class Attempts: Sendable { let count = Mutex(0) }
        try await withServer { url, _ in
            let session = try await Session.open(at: url)
            let other = try await Session.resume(at: url, token: session.token)
            let attempts = Attempts()
            try await withThrowingTaskGroup { group in
                for number in 0..<8 {
                    let notes = (number.isMultiple(of: 2) ? session : other).service("profile", of: Notes.self)
                    group.addTask {
                        try await notes.update { draft in
                            attempts.count.withLock { $0 += 1 }
                            draft.attributes["note-\(number)"] = number
                        }
                    }
                }
                try await group.waitForAll()
            }
            let notes = try await session.service("profile", of: Notes.self).get().attributes
            #expect(notes.keys.sorted() == (0..<8).map { "note-\($0)" })
            // Every one of them was read before the first was written, or there was no conflict to test.
            #expect(attempts.count.withLock { $0 } > 8)

            try await session.service("profile", of: Profile.self).put(Profile(name: "Ada", email: "ada@example.org"))
            try await session.service("profile", of: Name.self).update { $0.name = "Grace" }
            let profile = try await session.service("profile", of: Profile.self).get()
            #expect(profile.name == "Grace" && profile.email == "ada@example.org")
        }
    }

    @Test("an update does not overwrite what came while it was being read, also in the object that has shown it")
    func updateMeanwhile() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url, configuration: Wire.configuration(to: url))
            let profile = session.service("profile", of: Profile.self)
            try await profile.get()
            let first: Wire.Reply = .notModified { _ = try? await profile.update { $0.attributes["first"] = "1" } }
            Wire.expect(at: url, path: "/services/profile", replies: [first])
            try await profile.update { $0.attributes["second"] = "2" }
            #expect(profile.value?.attributes == ["first": "1", "second": "2"])
        }
    }

    @Test("commands have inputs and outputs of your types, and what was read before shows what they did")
    func commands() async throws {
        struct Cart: Codable { var total: Int }
        struct Item: Codable { var id: String, count: Int }
        try await withApplication(adding: Shop.services) { app in
            let session = try await Session.open(at: try #require(URL(string: "http://127.0.0.1:\(app.publicPort)")))
            let cart = session.service("cart", of: Cart.self)
            try await cart.get()
            let total: Int = try await cart.call("add", with: Item(id: "tea", count: 2))
            #expect(total == 6 && cart.value?.total == 6)
            let refused = await #expect(throws: Problem.self) {
                try await cart.call("add", with: Item(id: "gold", count: 1))
            }
            #expect(refused?.code == "command_refused" && refused?.reason == "unknown_item")
            #expect(refused?.violations.map(\.pointer) == ["/id"])
            let late = await #expect(throws: Problem.self) { try await cart.call("empty", ifMatch: "\"0\"") }
            #expect(late?.status == 412)
            try await cart.call("empty", ifMatch: cart.etag)
            #expect(cart.value?.total == 0)
        }
    }

    @Test("a write is repeated with its key while the server is busy or still works on it, and is done once")
    func retries() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url)
            let busy: [Wire.Reply] = [.status(503, code: "store_unreachable"), .silence(afterHead: true)]
            let working = [Wire.Reply](repeating: .status(409, code: "request_in_progress"), count: 4)
            let mine = try await Session.resume(
                at: url, token: session.token,
                configuration: Wire.configuration(to: url, path: "/events", replies: working))
            let journey = try await mine.start("wizard")
            #expect(try await journey.send("sign_in", ["name": "Ada"]).step == 2)
            #expect(try await journey.navigate(to: "page2").screen?.id == "page2")
            let requests = Wire.requests(to: url)
            #expect(requests.filter { $0.contains("/events") }.count == 1, "one key")
            #expect(requests.allSatisfy { !$0.hasPrefix("GET /v1/sessions/current/journeys") })

            let other = try await Session.resume(
                at: url, token: session.token,
                configuration: Wire.configuration(to: url, path: "/services/profile", replies: busy))
            #expect(try await other.service("profile", of: Profile.self).get().name == "Ada")
            let writing = try await Session.resume(
                at: url, token: session.token,
                configuration: Wire.configuration(to: url, path: "/services/profile", replies: busy))
            #expect(try await writing.service("profile", of: Profile.self).patch(["name": "Eve"]).name == "Eve")
        }
    }

    @Test("what was not seen is not overwritten; clear and remove give the default")
    func conditions() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url)
            let profile = session.service("profile", of: Profile.self)
            try await profile.put(Profile(name: "Ada"))
            let old = profile.etag
            try await profile.update { $0.email = "ada@example.org" }
            try await profile.update { $0.email = nil }
            #expect(profile.value?.email == nil)
            let refused = await #expect(throws: Problem.self) {
                try await profile.put(Profile(name: "Grace"), ifMatch: old)
            }
            #expect(refused?.status == 412 && profile.value?.name == "Ada")
            #expect(try await profile.clear().name == "")
            try await profile.put(Profile(name: "Grace"))
            #expect(try await profile.remove().name == "")
            #expect(profile.etag == "\"0\"")
        }
    }

    // MARK: Journeys

    @Test("an event is taken only from what was seen, and the state is the new one then")
    func conflict() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url)
            let journey = try await session.start("wizard")
            try await session.service("profile", of: Profile.self).patch(["name": "Grace"])
            let refused = await #expect(throws: Problem.self) { try await journey.send("next") }
            #expect(refused?.status == 412)
            #expect(try journey.state?.screen?.document("profile", as: Profile.self).name == "Grace")
            #expect(try await journey.send("next").screen?.id == "page1")
            #expect(try await session.start("wizard", resume: true).id == journey.id)
            #expect(try await journey.startOver("wizard").screen?.id == "start")
            try await journey.abandon()
            await #expect(throws: Problem.self) { try await journey.get() }
        }
    }

    @Test("a coordinator draws the walk through the wizard and keeps what stays on the stack")
    @MainActor
    func coordinator() async throws {
        try await withServer { @MainActor url, _ in
            let session = try await Session.open(at: url)
            let journey = try await session.start("wizard")
            let coordinator = SteppingCoordinator()
            let (shown, continuation) = AsyncStream.makeStream(of: [String].self)
            coordinator.shown = continuation
            async let last = coordinator.run(journey)
            var pictures = shown.makeAsyncIterator()
            #expect(await pictures.next() == ["1 start"])
            try await journey.send("sign_in", ["name": "Ada"])
            #expect(await pictures.next() == ["1 start", "2 page1 Ada"])
            try await journey.send("next")
            #expect(await pictures.next() == ["1 start", "2 page1 Ada", "3 page2 Ada"])
            try await journey.back()
            #expect(await pictures.next() == ["1 start", "2 page1 Ada"])
            try await journey.navigate(to: "page3")
            #expect(await pictures.next() == ["1 start", "2 page1 Ada", "4 page2", "5 page3 Ada"])
            try await journey.send("finish")
            #expect(await pictures.next() == ["1 start"])
            try await journey.send("cancel")
            #expect(await pictures.next() == [])
            #expect(try await last?.outcome == "cancelled")
        }
    }

    // MARK: Live

    @Test("another client's changes are seen, by the stream and by waiting", arguments: [true, false])
    func live(hasStream: Bool) async throws {
        try await withServer { url, _ in
            let none = [Wire.Reply](repeating: .status(404, code: "not_found"), count: hasStream ? 0 : 100)
            let configuration = Wire.configuration(to: url, path: "/current/events", replies: none)
            let session = try await Session.open(at: url, configuration: configuration)
            let other = try await Session.resume(at: url, token: session.token)
            let profile = session.service("profile", of: Profile.self)
            var names: [String] = []
            for try await document in profile.values {
                names.append(document.name)
                if names.count == 4 { break }
                try await other.service("profile", of: Profile.self).patch(["name": .string("Ada \(names.count)")])
            }
            #expect(names == ["", "Ada 1", "Ada 2", "Ada 3"])

            let journey = try await session.start("wizard")
            let theirs = try await other.start("wizard", resume: true)
            var screens: [String?] = []
            for try await state in journey.states {
                screens.append(state.screen?.id)
                switch screens.count {
                case 1: try await theirs.send("next")
                case 2: try await theirs.navigate(to: "page3")
                case 3: try await theirs.send("cancel")
                default: break
                }
            }
            #expect(screens == ["start", "page1", "page3", nil])
            #expect(journey.state?.outcome == "cancelled")
        }
    }

    @Test("without a stream one request waits for all that is followed")
    func oneWait() async throws {
        try await withServer { url, _ in
            let none = [Wire.Reply](repeating: .status(404, code: "not_found"), count: 100)
            let session = try await Session.open(
                at: url, configuration: Wire.configuration(to: url, path: "/current/events", replies: none))
            let journey = try await session.start("wizard")
            var states = journey.states.makeAsyncIterator()
            _ = try await states.next()
            let services = ["profile", "quote", "user", "basket"].map { session.service($0, of: JSONValue.self) }
            var values = services.map { $0.values.makeAsyncIterator() }
            for index in values.indices { _ = try await values[index].next() }
            let other = try await Session.resume(at: url, token: session.token)
            try await other.service("profile", of: Profile.self).patch(["name": "Ada"])
            #expect(try await values[0].next()?["name"] == "Ada")
            #expect(try await states.next()?.screen?.data["profile"]?["name"] == "Ada")
            let waits = Wire.requests(to: url).filter { $0.contains(" wait=") }
            #expect(waits == ["GET /v1/sessions/current/journeys/\(journey.id) wait=10"])
        }
    }

    @Test(
        "a stream that a proxy holds back, with its head or without, is given up for a while",
        arguments: [true, false])
    func heldBack(afterHead: Bool) async throws {
        try await withServer { url, _ in
            let session = try await Session.open(
                at: url,
                configuration: Wire.configuration(
                    to: url, path: "/current/events", replies: [.silence(afterHead: afterHead)]))
            let other = try await Session.resume(at: url, token: session.token)
            let profile = session.service("profile", of: Profile.self)
            let theirs = other.service("profile", of: Profile.self)
            var values = profile.values.makeAsyncIterator()
            _ = try await values.next()
            for number in 1...3 {
                try await theirs.patch(["name": .string("\(number)")])
                while try await values.next()?.name != "\(number)" {}
            }
            let isWaiting = Wire.requests(to: url).contains { $0.contains(" wait=") }
            #expect(isWaiting)
        }
    }

    @Test("a value that is not read takes no memory: the newest one is kept")
    func slowReader() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url)
            let profile = session.service("profile", of: Profile.self)
            var values = profile.values.makeAsyncIterator()
            _ = try await values.next()
            for number in 1...20 { try await profile.patch(["name": .string("\(number)")]) }
            #expect(try await values.next()?.name == "20")
        }
    }

    @Test("the end of the session ends what watches it, also when it had ended before")
    func ending() async throws {
        try await withServer { url, app in
            let session = try await Session.open(at: url)
            let profile = session.service("profile", of: Profile.self)
            let journey = try await session.start("wizard")
            var values = profile.values.makeAsyncIterator()
            var states = journey.states.makeAsyncIterator()
            _ = try await values.next()
            _ = try await states.next()
            _ = try await app.admin().send("DELETE", "/v1/sessions/\(session.info().id)")
            let quote = session.service("quote", of: JSONValue.self)
            let ends = [
                await #expect(throws: Problem.self) { while try await values.next() != nil {} },
                await #expect(throws: Problem.self) { while try await states.next() != nil {} },
                await #expect(throws: Problem.self) { for try await _ in quote.values {} },
            ]
            #expect(ends.map(\.?.status) == [401, 401, 401])
            #expect(session.hasEnded)
        }
    }

    @Test("a sign-in replaces the token, and the session goes on to be watched with the new one")
    func signIn() async throws {
        try await withServer { url, app in
            let session = try await Session.open(at: url)
            let profile = session.service("profile", of: Profile.self)
            var values = profile.values.makeAsyncIterator()
            _ = try await values.next()
            // Signing in changes `user`: its watcher asks with the old token, which is dead by then.
            var users = session.service("user", of: JSONValue.self).values.makeAsyncIterator()
            #expect(try await users.next()?["id"] == .null)
            let token = try await app.signIn("ada", to: session.info().id)
            session.token = token
            #expect(try await users.next()?["id"] == "ada")
            #expect(try await session.info().userID == "ada")
            let other = try await Session.resume(at: url, token: session.token)
            try await other.service("profile", of: Profile.self).patch(["name": "Ada"])
            #expect(try await values.next()?.name == "Ada")
            #expect(!session.hasEnded)
        }
    }
}

/// Shows the stack as texts: the number of the drawing, its screen, and the name that was drawn last.
@MainActor
private final class SteppingCoordinator: Coordinator {
    final class Page {
        let number: Int
        let screen: String
        var name = ""

        init(number: Int, screen: String) { (self.number, self.screen) = (number, screen) }
    }

    var shown: AsyncStream<[String]>.Continuation?
    private var count = 0

    func drawing(of frame: Journey.Frame, in journey: Journey) -> Page {
        count += 1
        return Page(number: count, screen: frame.screen)
    }

    func update(_ page: Page, with state: Journey.State) {
        page.name = state.screen?.data["profile"]?["name"]?.string ?? ""
    }

    func show(_ pages: [Page], of state: Journey.State) {
        shown?.yield(pages.map { "\($0.number) \($0.screen)\($0.name.isEmpty ? "" : " \($0.name)")" })
    }
}
