import Navigation
import Support
import Synchronization
import Testing

@testable import API
@testable import ConciergeApp

@Suite("Drawings of flows")
struct FlowGraphsTests {
    private struct Broken: Error {}

    private static func flow() throws -> FlowDefinition {
        let text =
            #"{"id":"f","version":1,"initial":"a","states":{"a":{"on":{"e":{"target":"z"}}},"z":{"type":"final"}}}"#
        return try #require(try flowCatalog([text]).flow("f"))
    }

    @Test("one that has failed is not tried again for a minute, whoever asks")
    func pause() async throws {
        let flow = try Self.flow()
        let calls = Mutex(0)
        let graphs = FlowGraphs { _ in
            calls.withLock { $0 += 1 }
            throw Broken()
        }
        for _ in 0..<3 {
            let problem = await #expect(throws: Problem.self) { _ = try await graphs.graph(of: flow, as: .svg) }
            let rest = problem?.fields.lines.first { $0.name == .retryAfter }?.value
            #expect((1...60).contains(rest.flatMap(Int.init) ?? 0), "\(rest ?? "none")")
        }
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("one that fails is 503, and tried again; one that succeeds is kept")
    func failing() async throws {
        let flow = try Self.flow()
        let calls = Mutex(0)
        let graphs = FlowGraphs(
            draw: { _ in
                let call = calls.withLock { count in
                    count += 1
                    return count
                }
                if call == 1 { throw Broken() }
                return Array("<svg/>".utf8)
            }, pause: .zero)
        let problem = await #expect(throws: Problem.self) { _ = try await graphs.graph(of: flow, as: .svg) }
        #expect(problem?.kind.code == "drawing_failed")
        #expect(problem?.kind.status.code == 503)
        for _ in 0..<3 { #expect(try await graphs.graph(of: flow, as: .svg).bytes == Array("<svg/>".utf8)) }
        #expect(calls.withLock { $0 } == 2)
        #expect(graphs.forms == GraphForm.allCases)
        #expect(FlowGraphs(draw: nil).forms == [.mermaid, .graphviz])
    }
}
