import Glibc
import HTTPTestClient
import JSONDocument
import Navigation
import Testing

@Suite("Ways across 10,000 screens", .serialized)
struct LongWayTests {
    static let size = 10_000

    /// One screen after the other, each of which asks for a name, with an event that holds on all of them.
    static let row = flow { place in ["next": target((place + 1) % size)] }

    /// The same, with an action and a schema for each event.
    static let busyRow = (try? JSONDocument(parsing: SizeTests.row(of: size))) ?? .null

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

    @Test("are gone in a moment", arguments: [("row", size - 1), ("busy row", size - 1), ("tree", 13)])
    func navigation(shape: String, hops: Int) async throws {
        try await blockingInBackground { try Self.cross(shape, hops) }
    }

    private static func cross(_ shape: String, _ hops: Int) throws {
        let flow = ["row": row, "busy row": busyRow, "tree": tree][shape] ?? .null
        let engine = FlowEngine(catalog: try Traveller.catalog([flow]))
        let services = TestServices()
        let journey = try engine.start(flow: "large", id: "main", services: services, now: 0).journey
        let far = "s\(size - 1)"
        var path: [String] = []
        let times = try (0..<3).map { _ in
            let start = processorTime()
            path = try engine.navigate(journey, to: far, services: services, now: 0).path
            return processorTime() - start
        }
        let best = times.min() ?? 0
        print("\(shape): \(hops) hops in \(best / 1_000_000) ms of processor time")
        #expect(path.count == hops && path.last == far)
        // 50 ms are what is promised of an optimised build on a quiet machine; this is a net for what is quadratic.
        #expect(isSanitized || best < 5_000_000_000)
    }

    /// In nanoseconds, of this thread: what else the machine does is left out.
    private static func processorTime() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
