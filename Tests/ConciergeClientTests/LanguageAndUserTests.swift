import ConciergeClient
import Foundation
import Support
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(
    "What ConciergeClient knows of the person: language, user, and what is said of mistakes", .timeLimit(.minutes(1)))
struct LanguageAndUserTests {
    @Test("every request names the language, and what is followed is read again when it is another one")
    func language() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(
                at: url, language: "de", configuration: Wire.configuration(to: url))
            let journey = try await session.start("login")
            var states = journey.states.makeAsyncIterator()
            #expect(try await states.next()?.screen?.title == "Bitte melden Sie sich an")
            _ = try await session.info()
            while !Wire.requests(to: url).contains(where: { $0.contains("/events") }) { await Task.yield() }
            let requests = Wire.requests(to: url)
            let isTold = requests.allSatisfy { $0.hasSuffix(" de") }
            #expect(isTold && requests.count >= 4)
            session.language = "en"
            #expect(try await states.next()?.screen?.title == "Please sign in")
            #expect(session.language == "en")
        }
    }

    @Test("a response in the former language is not shown when the language has changed meanwhile")
    func languageMeanwhile() async throws {
        try await withServer { url, app in
            let session = try await Session.open(
                at: url, language: "de", configuration: Wire.configuration(to: url))
            let journey = try await session.start("login")
            let german = try await app.client().with(token: session.token).send(
                "GET", "/v1/sessions/current/journeys/\(journey.id)", fields: [("Accept-Language", "de")])
            for path in ["/events", "/journeys/\(journey.id)"] {
                session.language = "de"
                try await journey.get()
                let late: Wire.Reply = .state(german.text, etag: "\"late\"") { session.language = "en" }
                Wire.expect(at: url, path: path, replies: [late])
                _ = try await path == "/events" ? journey.send("submit") : journey.get()
                #expect(journey.state?.screen?.title == "Please sign in")
            }
        }
    }

    @Test("a problem says the first mistake and its place, whichever of Swift's descriptions is shown")
    func description() async throws {
        try await withServer { url, _ in
            let session = try await Session.open(at: url)
            let problem = try #require(
                await #expect(throws: Problem.self) {
                    try await session.service("profile", of: JSONValue.self).put(["name": 7, "email": 7])
                })
            #expect(problem.localizedDescription == "The input has mistakes: /email must be a string or null")
            #expect("\(problem)" == "400 invalid_state \(problem.localizedDescription)")
            let other = await #expect(throws: Problem.self) { try await session.journey("none").get() }
            #expect(other?.localizedDescription == other?.detail)
        }
    }

    @Test("who has signed in is told, by the stream and by waiting", arguments: [true, false])
    func user(hasStream: Bool) async throws {
        try await withServer { url, app in
            let none = [Wire.Reply](repeating: .status(404, code: "not_found"), count: hasStream ? 0 : 100)
            let session = try await Session.open(
                at: url, configuration: Wire.configuration(to: url, path: "/current/events", replies: none))
            let id = try await session.info().id
            var users = session.user.values.makeAsyncIterator()
            #expect(try await users.next()?.authenticated == false)
            session.token = try await app.signIn("ada", to: id, claims: #"{"name":"Ada"}"#)
            let user = try await users.next()
            #expect(user?.id == "ada" && user?.claims == ["name": "Ada"])
            #expect(session.user.value == user, "what one has read is what all are shown")
            #expect(try await app.admin().send("DELETE", "/v1/sessions/\(id)/user").status == 204)
            #expect(try await users.next()?.authenticated == false)
        }
    }

    @Test("needs Foundation alone, and what iOS 16 and macOS 13 have")
    func platforms() throws {
        let files = try ShippedFiles.repository.names(in: "Sources/ConciergeClient")
        let imports = try files.flatMap { file in
            try ShippedFiles.text("Sources/ConciergeClient/\(file)").split(separator: "\n").compactMap { line in
                line.wholeMatch(of: #/ *import ([A-Za-z]+)/#).map { String($0.output.1) }
            }
        }
        // `Mutex`, of Synchronization, is younger.
        #expect(Set(imports) == ["Foundation", "FoundationNetworking"])
        #expect(try ShippedFiles.text("Package.swift").contains("platforms: [.macOS(.v13), .iOS(.v16), "))
    }
}
