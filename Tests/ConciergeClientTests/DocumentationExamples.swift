import ConciergeClient
import Foundation
import Support
import Testing

// The examples of docs/swift-client.md, compiled and run. The text between the markers is the text of the page; a test
// compares the two.

// snippet: documents
struct Profile: Codable {
    var name: String
    var email: String?
    var attributes: [String: String] = [:]
}

/// What command `add` of the basket takes.
struct Choice: Codable {
    var sku: String
    var quantity = 1
}

struct Basket: Codable {
    struct Item: Codable, Equatable {
        var sku: String
        var quantity: Int
    }
    var items: [Item]
    var total: Int
}
// end

// snippet: coordinator
/// A screen of a terminal. In an app this is a view controller, or the model of a view.
final class Page {
    var text = ""
}

final class TerminalCoordinator: Coordinator {
    private(set) var pages: [Page] = []

    func drawing(of frame: Journey.Frame, in journey: Journey) -> Page { Page() }

    func update(_ page: Page, with state: Journey.State) {
        let events = state.events.filter(\.enabled).map(\.name).joined(separator: ", ")
        page.text = "\(state.screen?.title ?? "") [\(events)]"
    }

    func show(_ pages: [Page], of state: Journey.State) { self.pages = pages }
}
// end

@Suite("The examples of docs/swift-client.md", .timeLimit(.minutes(1)))
struct DocumentationExamples {
    @Test("sessions")
    func sessions() async throws {
        try await withServer { url, _ in
            var saved: String?
            // snippet: session
            let session = try await Session.open(at: url, token: saved)
            saved = session.token
            #expect(try await session.info().userID == nil)
            // end
            #expect(saved?.hasPrefix("cg_") == true)
            // snippet: user
            #expect(try await session.user.get().id == nil)
            // end
            // snippet: language
            session.language = "de"
            let login = try await session.start("login")
            #expect(login.state?.screen?.title == "Bitte melden Sie sich an")
            session.language = "en"
            #expect(try await login.get().screen?.title == "Please sign in")
            // end
            // snippet: end
            try await session.end()
            #expect(session.hasEnded)
            // end
        }
    }

    @Test("services")
    func services() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url)
            // snippet: service
            let profile = session.service("profile", of: Profile.self)
            try await profile.patch(["name": "Ada"])
            #expect(profile.value?.name == "Ada")
            #expect(profile.etag == "\"2\"")

            try await profile.update { $0.attributes["drink"] = "tea" }
            #expect(try await profile.get().attributes == ["drink": "tea"])

            let basket = session.service("basket", of: Basket.self)
            try await basket.call("add", with: Choice(sku: "TEA", quantity: 2))
            #expect(try await basket.get().total == 900)
            // end
        }
    }

    @Test("journeys")
    func journeys() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url)
            // snippet: journey
            let journey = try await session.start("wizard", resume: true)
            var state = try await journey.send("sign_in", ["name": "Grace"])
            #expect(state.screen?.id == "page1")
            #expect(state.events.map(\.name) == ["next", "cancel"])
            #expect(try state.screen?.document("profile", as: Profile.self).name == "Grace")

            state = try await journey.navigate(to: "page3")
            #expect(state.stack.map(\.screen) == ["start", "page1", "page2", "page3"])
            state = try await journey.back()
            #expect(state.screen?.id == "page2")
            // end
        }
    }

    @Test("live updates")
    func live() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url)
            let profile = session.service("profile", of: Profile.self)
            try await profile.patch(["name": "Grace"])
            // snippet: live
            let elsewhere = try await Session.resume(at: url, token: session.token)
            for try await document in profile.values {
                if document.email != nil { break }
                try await elsewhere.service("profile", of: Profile.self).patch(["email": "grace@example.org"])
            }
            #expect(profile.value?.email == "grace@example.org")
            // end
        }
    }

    @Test("a coordinator")
    @MainActor
    func coordinator() async throws {
        try await withServer { @MainActor url, _ in
            let session = try await Session.open(at: url)
            // snippet: run
            let journey = try await session.start("wizard")
            let coordinator = TerminalCoordinator()
            async let last = coordinator.run(journey)
            try await journey.send("sign_in", ["name": "Grace"])
            try await journey.send("cancel")
            #expect(try await last?.outcome == "cancelled")
            // end
        }
    }

    @Test("problems")
    func problems() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url)
            // snippet: problem
            let journey = try await session.start("wizard")
            do {
                try await journey.send("sign_in", ["name": 7])
            } catch let problem as Problem {
                #expect(problem.status == 400)
                #expect(problem.code == "invalid_input")
                #expect(problem.violations.first?.pointer == "/data/name")
                let message = "The event does not accept this data here: /data/name must be a string"
                #expect(problem.localizedDescription == message)
            }
            // end
            #expect(journey.state?.screen?.id == "start")
        }
    }
}
