import FlowTools
import JSONDocument
import Navigation
import Testing

@Suite("Texts in several languages")
struct TranslationTests {
    private static let german: JSONDocument = ["be": "Hello {/profile/name}", "de": "Hallo {/profile/name}"]

    @Test("a view has its texts with values in each language")
    func languages() throws {
        let flow = Flows.make([
            "a": ["title": Self.german, "labels": ["go": ["be": "Go", "de": "Los"]], "on": ["go": ["target": "a"]]]
        ])
        var traveller = try Traveller(flow)
        traveller.services["profile"] = ["name": "Ada", "email": nil, "attributes": .emptyObject]
        let text = try traveller.engine.textAndMemory(
            traveller.journey, services: traveller.services, now: traveller.now, knowing: GuardMemory(),
            timesMovedBy: 0
        ).text
        #expect(JourneyView(json: text.bytes).screen?.title == "Hello Ada")
        #expect(text.texts.languages == ["be", "de"] && traveller.engine.catalog.languages == ["test": ["be", "de"]])
        let german = try view(text, in: "de")
        #expect(german.screen?.title == "Hallo Ada" && german.events.map(\.label) == ["Los"])
        #expect(text.texts.changes(to: "fr") == [] && text.texts.changes(to: "be") == [])
    }

    private func view(_ text: ViewText, in language: String) throws -> JourneyView {
        let changes = JSONDocument(text.texts.changes(to: language))
        return JourneyView(json: try JSONDocument(parsing: text.bytes).applying(changes).serialized())
    }

    @Test(
        "texts with one wording are translated each for itself, and values are not, whether events are refused or not",
        arguments: [false, true])
    func wordings(isRefused: Bool) throws {
        let say: JSONDocument = ["be": "Go", "de": "Geht nicht"]
        let flow = Flows.make(
            [
                "a": [
                    "title": ["be": "Go", "de": "Anfang"],
                    "labels": [
                        "go": ["be": "Go", "de": "Los"], "pay": ["be": "Pay {/limits/x}", "de": "{/limits/x} zahlen"],
                        "paid": ["be": "Pay {/limits/x}", "de": "{/limits/x} bezahlt"],
                    ],
                    "accepts": [
                        "go": [
                            "properties": [
                                "x": ["title": ["be": "Go", "de": "Wohin"], "x-say": ["be": "Go", "de": "Nein"]]
                            ]
                        ]
                    ],
                    "on": [
                        "go": ["target": "b", "say": ["be": "Go", "de": "Gegangen"]], "pay": ["target": "b"],
                        "paid": ["target": "b"], "some": ["target": "b", "guard": "some"],
                        "other": ["target": "b", "guard": "other"],
                    ],
                ],
                "b": [
                    "title": ["be": "{/limits/x}", "de": "{/limits/x}"],
                    "labels": ["back": ["be": "Go", "de": "Zurück"]], "on": ["on": ["target": "a"]],
                ],
            ],
            adding: [
                "guards": [
                    "some": ["is": "/limits/yes", "say": say],
                    "other": ["is": "/limits/yes", "say": ["be": "Go", "de": "Auch nicht"]],
                ]
            ])
        var traveller = try Traveller(flow)
        traveller.services["limits"] = ["x": "Go", "yes": JSONDocument(!isRefused)]
        var text = try self.text(of: traveller)
        let german = try view(text, in: "de")
        #expect(german.screen?.title == "Anfang")
        let labels = german.events.filter { $0.label != nil }.map { "\($0.name) \($0.label ?? "")" }
        #expect(labels == ["go Los", "paid Go bezahlt", "pay Go zahlen"])
        #expect(
            german.events.flatMap(\.why).map(\.detail) == (isRefused ? ["Auch nicht", "Geht nicht"] : []))
        let form = try traveller.engine.eventSchemas(
            of: traveller.journey, services: traveller.services, now: traveller.now)["go"]
        let member = form?.schema(in: "de")[member: "properties"]?[member: "x"]
        #expect(member == ["title": "Wohin", "x-say": "Nein"])
        #expect(form?.schema(in: "be") == form?.schema)
        try traveller.send("go")
        text = try self.text(of: traveller)
        let moved = try view(text, in: "de")
        #expect(moved.message == "Gegangen" && moved.screen?.title == "Go")
        #expect(moved.events.map(\.label) == [nil, "Zurück"])
    }

    private func text(of traveller: Traveller) throws -> ViewText {
        try traveller.engine.textAndMemory(
            traveller.journey, services: traveller.services, now: traveller.now, knowing: GuardMemory(),
            timesMovedBy: 0
        ).text
    }

    @Test("the entity tag changes with a value that a reason shows in another language only")
    func tagsOfReasons() throws {
        let much: JSONDocument = ["is": "/limits/no", "say": ["be": "Not yet", "de": "Erst {/limits/low}"]]
        var traveller = try Traveller(
            Flows.make(["a": ["on": ["go": ["target": "a", "guard": "much"]]]], adding: ["guards": ["much": much]]))
        let before = try text(of: traveller).tag
        traveller.services["limits"] = ["low": 2]
        #expect(try text(of: traveller).tag != before)
    }

    @Test("the entity tag changes with the order of languages, which says the first one")
    func tagsOfLanguages() throws {
        func tag(_ title: String) throws -> UInt64 {
            let flow =
                #"{"id": "f", "version": 1, "initial": "a", "states": {"a": {"title": {\#(title)}, "on": {"go": {"target": "a"}}}}}"#
            let (catalog, problems) = FlowLoader(services: TestServices.directory).load(
                [FlowFile(name: "f-1.json", bytes: Array(flow.utf8))])
            let engine = FlowEngine(catalog: try #require(catalog, "\(problems.map(\.description))"))
            let step = try engine.start(flow: "f", id: "main", services: TestServices(), now: 0)
            return try engine.textAndMemory(
                step.journey, services: TestServices(), now: 0, knowing: GuardMemory(), timesMovedBy: 0
            ).text.tag
        }
        #expect(try tag(#""en": "Name", "de": "Name""#) != tag(#""de": "Name", "en": "Name""#))
    }

    @Test("on the screen of a child, the events and reasons of its parent are in the parent's languages")
    func parents() throws {
        let parent = Flows.make(
            ["a": ["type": "flow", "flow": "child"], "end": ["type": "final"]],
            adding: [
                "guards": ["free": ["is": "/limits/free", "say": ["be": "Not free", "de": "Nicht frei"]]],
                "on": ["stop": ["target": "end", "guard": "free"]],
                "labels": ["stop": ["be": "Stop", "de": "Halt"]],
            ])
        let child = Flows.make(["a": ["on": ["go": ["target": "a"]]]], id: "child")
        let traveller = try Traveller(parent, child)
        let text = try traveller.engine.textAndMemory(
            traveller.journey, services: traveller.services, now: traveller.now, knowing: GuardMemory(),
            timesMovedBy: 0
        ).text
        let stop = try #require(JourneyView(json: text.bytes).events.last)
        #expect(stop.label == "Stop" && stop.why.map(\.detail) == ["Not free"])
        #expect(text.texts.languages == ["be", "de"])
        let german = try #require(view(text, in: "de").events.last)
        #expect(german.label == "Halt" && german.why.map(\.detail) == ["Nicht frei"])
        guard case .guardNotMet(let reasons)? = traveller.refusal(of: "stop") else {
            Issue.record("not refused")
            return
        }
        #expect(reasons.map { $0.translations["de"] } == ["Nicht frei"])
    }
}
