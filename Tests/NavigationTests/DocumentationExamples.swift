import FlowTools
import JSONDocument
import Navigation
import Testing

// The examples of docs/navigation.md, compiled and run. The text between the markers is the text of the page; a test
// compares the two.

// snippet: flow
let greeting = FlowFile(
    name: "greeting.json",
    bytes: Array(
        """
        { "id": "greeting", "version": 1, "initial": "ask",
          "guards": { "named": {"service": "guest", "schema": {"properties": {"name": {"minLength": 1}}}} },
          "states": {
            "ask":   { "screen": "Ask", "on": { "answer": {
                         "target": "hello",
                         "actions": [{"op": "add", "path": "/guest/name", "value": {"$from": "/event/name"}}] } } },
            "hello": { "screen": "Hello", "data": ["guest"], "requires": ["named"], "on": { "leave": {"target": "gone"} } },
            "gone":  { "type": "final", "outcome": "left" } } }
        """.utf8))
// end

// snippet: services
struct Guests: ServiceDocuments {
    var documents: [String: JSONDocument] = [:]

    func document(of service: String) -> JSONDocument? { documents[service] ?? defaultDocument(of: service) }
    func defaultDocument(of service: String) -> JSONDocument? { service == "guest" ? ["name": ""] : nil }
    func violations(of document: JSONDocument, in service: String) -> [JSONViolation] { [] }

    mutating func apply(_ changes: [ServiceChange]) {
        for change in changes {
            switch change.effect {
            case .written(let document): documents[change.service] = document
            case .cleared, .removed: documents[change.service] = nil
            }
        }
    }
}
// end

@Suite("The examples of docs/navigation.md")
struct DocumentationExamples {
    private func engine() throws -> FlowEngine {
        let directory = ServiceDirectory([ServiceDirectory.Entry(name: "guest")])
        return FlowEngine(catalog: try #require(FlowLoader(services: directory).load([greeting]).catalog))
    }

    @Test("from a file to a journey and its end")
    func walk() throws {
        // snippet: load
        let directory = ServiceDirectory([ServiceDirectory.Entry(name: "guest")])
        let (catalog, problems) = FlowLoader(services: directory).load([greeting])
        for problem in problems { print(problem) }
        guard let catalog else { return }
        let engine = FlowEngine(catalog: catalog)
        // end
        #expect(problems.isEmpty)
        // snippet: walk
        var guests = Guests()
        var now: Int64 = 1_767_225_600_000
        var step = try engine.start(flow: "greeting", id: "main", services: guests, now: now)
        guests.apply(step.changes)

        now += 5_000
        step = try engine.send("answer", data: ["name": "Ada"], to: step.journey, services: guests, now: now)
        guests.apply(step.changes)
        #expect(guests.document(of: "guest") == ["name": "Ada"])
        // end
        // snippet: view
        let view = try engine.view(step.journey, services: guests, now: now)
        #expect(view.screen?.name == "Hello")
        #expect(view.events.map(\.name) == ["leave"])
        #expect(view.canGoBack)
        // end
        // snippet: end
        step = try engine.send("leave", to: step.journey, services: guests, now: now)
        #expect(step.journey.status == .finished)
        #expect(step.journey.outcome == "left")
        // end
    }

    @Test("a refusal changes nothing")
    func refusal() throws {
        let engine = try engine()
        let (guests, now) = (Guests(), Int64(1_767_225_600_000))
        let step = try engine.start(flow: "greeting", id: "main", services: guests, now: now)
        // snippet: refusal
        do {
            _ = try engine.send("answer", data: ["name": ""], to: step.journey, services: guests, now: now)
        } catch {
            if case .guardNotMet(let violations) = error { print(violations) }
        }
        // end
        #expect(throws: JourneyRefusal.self) {
            try engine.send("answer", data: ["name": ""], to: step.journey, services: guests, now: now)
        }
    }

    @Test("stored, read again, and past its time")
    func stored() throws {
        let engine = try engine()
        let (guests, now) = (Guests(), Int64(1_767_225_600_000))
        let step = try engine.start(flow: "greeting", id: "main", services: guests, now: now)
        // snippet: stored
        let bytes = step.journey.json
        guard var journey = Journey(try JSONDocument(parsing: bytes)) else { return }
        if let due = try engine.advance(journey, services: guests, now: now) {
            journey = due.journey
        }
        // end
        #expect(journey == step.journey)
    }

    @Test("links")
    func links() throws {
        let engine = try engine()
        let now = Int64(1_767_225_600_000)
        var guests = Guests()
        guests.documents["guest"] = ["name": "Ada"]
        let journey = try engine.start(flow: "greeting", id: "main", services: guests, now: now).journey
        // snippet: link
        do {
            let navigation = try engine.navigate(journey, to: "hello", services: guests, now: now)
            print(navigation.path)
        } catch {
            if case .unreachable(let screen, let violations) = error { print(screen, violations) }
        }
        // end
    }
}
