import JSONDocument
import Navigation
import Testing

@Suite("A flow of 10,000 screens", .serialized)
struct LargeFlowWayTests {
    static let size = 10_000

    /// What is promised is for the optimised program; without optimisation it takes many times as long.
    static let patience: Double = {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }())
        return isDebug ? 30 : 1
    }()

    /// One screen after the other, each of which asks for a name, with an event that holds on all of them.
    static let row = flow { place in ["next": target((place + 1) % size)] }

    /// Screens that lead to two others each: thirteen events lead anywhere.
    static let tree = flow { place in ["left": target(2 * place + 1), "right": target(2 * place + 2)] }

    private static func target(_ place: Int) -> JSONDocument { ["target": JSONDocument("s\(place % size)")] }

    private static func flow(_ events: (Int) -> JSONDocument) -> JSONDocument {
        let states = (0..<size).map { place -> (name: String, value: JSONDocument) in
            ("s\(place)", ["requires": ["named"], "data": ["profile"], "on": events(place)])
        }
        let last: (name: String, value: JSONDocument) = ("end", ["type": "final"])
        return [
            "id": "large", "version": 1, "initial": "s0", "states": JSONDocument(members: states + [last]),
            "guards": ["named": ["service": "profile", "schema": ["required": ["name"]]]],
            "on": ["quit": ["target": "end"]],
        ]
    }

    @Test("is loaded and checked in two seconds", arguments: [row, tree])
    func loading(flow: JSONDocument) throws {
        let file = FlowFile(name: "large.json", bytes: flow.serialized())
        let time = try ContinuousClock().measure {
            let (catalog, problems) = FlowLoader(services: TestServices.directory).load([file])
            _ = try #require(catalog, "\(problems.prefix(3))")
        }
        print("loaded \(Self.size) screens in \(time)")
        #expect(time < .seconds(2) * Self.patience)
    }

    @Test("is crossed in 50 ms", arguments: [(row, size - 1), (tree, 13)])
    func navigation(flow: JSONDocument, hops: Int) throws {
        let engine = FlowEngine(catalog: try Traveller.catalog([flow]))
        let services = TestServices()
        let start = try engine.start(flow: "large", id: "main", services: services, now: 0)
        let far = "s\(Self.size - 1)"
        var path: [String] = []
        let times = try (0..<5).map { _ in
            try ContinuousClock().measure {
                path = try engine.navigate(start.journey, to: far, services: services, now: 0).path
            }
        }
        print("crossed in \(hops) hops in \(times)")
        #expect(path.count == hops && path.last == far)
        #expect(times.min() ?? .zero < .milliseconds(50) * Self.patience)
    }
}
