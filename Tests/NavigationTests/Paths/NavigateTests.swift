import JSONDocument
import Navigation
import Testing

@Suite("Going to a screen")
struct NavigateTests {
    let engine: FlowEngine
    var services = TestServices()

    init() throws {
        engine = FlowEngine(catalog: try Traveller.catalog([Flows.wizard, Flows.editQuote]))
    }

    private func signedIn() throws -> (Journey, TestServices) {
        var services = TestServices()
        var step = try engine.start(flow: "wizard", id: "main", services: services, now: 0)
        step = try engine.send("sign_in", data: ["name": "Ada"], to: step.journey, services: services, now: 0)
        services.perform(step.changes)
        return (step.journey, services)
    }

    @Test("the way over pages that may be seen is gone as one step")
    func wizard() throws {
        let (journey, services) = try signedIn()
        let result = try engine.navigate(journey, to: "page3", services: services, now: 5)
        #expect(result.path == ["page2", "page3"])
        #expect(result.events == ["next", "next"])
        #expect(result.step.journey.step == journey.step + 1)
        #expect(result.step.journey.frames.map(\.state) == ["start", "page1", "page2", "page3"])
        #expect(result.step.journey.movedAt == 5)
    }

    @Test("without a name, the first page that wants one is in the way, and says what is missing")
    func blocked() throws {
        let step = try engine.start(flow: "wizard", id: "main", services: services, now: 0)
        #expect {
            try engine.navigate(step.journey, to: "page3", services: services, now: 0)
        } throws: { error in
            guard case .unreachable("page1", let violations)? = error as? JourneyRefusal else { return false }
            return violations.map(\.pointer) == ["/profile/name"]
        }
    }
}
