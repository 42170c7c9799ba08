import FlowTools
import Glibc
import HTTPTestClient
import JSONDocument
import Testing

@testable import Navigation

@Suite("Sizes")
struct SizeTests {
    /// Screens in a row, each with what screens usually have.
    static func row(of count: Int) -> [UInt8] {
        var text =
            #"{"id": "large", "version": 1, "initial": "s0", "guards": {"named": {"service": "profile", "schema": {"properties": {"name": {"maxLength": 100}}}}}, "on": {"home": {"target": "s0", "nav": "set_root"}}, "states": {"#
        for index in 0..<count {
            text += #""s\#(index)": {"title": "Screen \#(index)", "data": ["profile"], "requires": ["named"], "#
            text +=
                #""accepts": {"next": {"type": "object", "maxProperties": 3}}, "on": {"next": {"target": "s\#((index + 1) % count)", "link": true, "#
            text +=
                #""actions": [{"op": "add", "path": "/profile/name", "value": {"$from": "/event/name", "default": "x"}}]}}},"#
        }
        text.removeLast()
        return Array((text + "}}").utf8)
    }

    @Test("a flow of 10,000 screens takes little more than ten times the work of one of 1,000")
    func load() async throws {
        try await blockingInBackground {
            let small = try (0..<3).map { _ in try Self.workToLoad(1_000) }.min() ?? .zero
            // A hundred times is what the square would be.
            let large = try Self.workToLoad(10_000)
            #expect(large < small * 30, "\(large) after \(small)")
        }
    }

    /// Processor time of this thread, which others who use the machine do not change.
    private static func workToLoad(_ count: Int) throws -> Duration {
        let bytes = row(of: count)
        let start = threadTime()
        let (catalog, problems) = FlowLoader(services: TestServices.directory).load([FlowFile(name: "f", bytes: bytes)])
        let work = threadTime() - start
        #expect(problems == [])
        #expect(catalog?.flow("large")?.states.count == count)
        return work
    }

    private static func threadTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test("thousands of mistakes are all found")
    func mistakes() async throws {
        try await blockingInBackground(Self.findMistakes)
    }

    @Sendable private static func findMistakes() {
        var text = String(decoding: row(of: 3_000), as: UTF8.self)
        text = text.split(separator: #""target": "s"#).joined(separator: #""target": "t"#)
        let (_, problems) = FlowLoader(services: TestServices.directory).load([
            FlowFile(name: "f", bytes: Array(text.utf8))
        ])
        #expect(problems.count { $0.code == .unknownState } == 3_001)
    }

    @Test("a stack of thousands of screens is kept, and one of too many refused")
    func deepStack() throws {
        let flow = Flows.make(["a": ["on": ["next": ["target": "a"]]]])
        let engine = FlowEngine(catalog: try Traveller.catalog([flow]))
        var journey = try engine.start(flow: "test", id: "x", services: TestServices(), now: 0).journey
        // The last but one that there may be.
        journey.frames += repeatElement(Frame(coordinator: 0, state: "a", presentation: .push), count: 16_382)
        journey = try engine.send("next", to: journey, services: TestServices(), now: 0).journey
        #expect(journey.frames.count == 16_384)
        #expect(throws: JourneyRefusal.stackFull) {
            try engine.send("next", to: journey, services: TestServices(), now: 0)
        }
        #expect(Journey(journey.document) == journey)
    }
}
