import Glibc
import Testing

@testable import FlowTools

/// Whether there is a `dot` to try. Without one the suites below are skipped, which the log of the run says.
let graphviz = GraphvizTool(searching: getenv("PATH").map { String(cString: $0) } ?? "")

@Suite("Graphviz", .enabled(if: graphviz != nil, "no dot in PATH: install the package graphviz"))
struct GraphvizToolTests {
    @Test("a graph comes back as a drawing")
    func draws() async throws {
        let svg = try await #require(graphviz).svg(of: "digraph { a -> \"b & c\" }")
        let text = String(decoding: svg, as: UTF8.self)
        #expect(text.hasPrefix("<svg"))
        #expect(text.contains("b &amp; c"))
        #expect(text.hasSuffix("</svg>\n"))
    }

    @Test("a text that is larger than what fits into a socket goes through")
    func large() async throws {
        let padding = String(repeating: "// nothing of interest on this line\n", count: 50_000)
        let svg = try await #require(graphviz).svg(of: padding + "digraph { a }")
        #expect(String(decoding: svg, as: UTF8.self).contains("<title>a</title>"))
    }

    @Test("what is no graph fails", arguments: ["digraph {", "hello"])
    func refused(text: String) async throws {
        await #expect(throws: GraphvizError.failed(status: 1)) { try await #require(graphviz).svg(of: text) }
    }

    @Test("many drawings at once do not get in each other's way")
    func parallel() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let svg = try await #require(graphviz).svg(of: "digraph { node\(number) }")
                    return String(decoding: svg, as: UTF8.self).contains("<title>node\(number)</title>")
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}

@Suite("Programs in the place of Graphviz")
struct GraphvizLimitTests {
    /// Runs `script` in a shell instead.
    private static func draw(
        _ text: String, by script: String, time: Double = 60, bytes: Int = 1000
    ) async throws -> [UInt8] {
        var limits = GraphvizLimits()
        limits.time = time
        limits.bytes = bytes
        return try await GraphvizTool(path: "/bin/sh", arguments: ["-c", script], limits: limits).svg(of: text)
    }

    @Test(
        "one that goes on and on is killed when its time is over",
        arguments: ["exec sleep 60", "exec >&-; exec sleep 60"])
    func endless(script: String) async throws {
        await #expect(throws: GraphvizError.timedOut) { try await Self.draw("", by: script, time: 0.2) }
    }

    @Test("one that writes without end is killed when it has written too much")
    func tooLarge() async throws {
        await #expect(throws: GraphvizError.tooLarge) { try await Self.draw("", by: "exec cat /dev/zero") }
    }

    @Test("one that reads nothing fails", arguments: [("exit 3", 3), ("kill -9 $$", nil)] as [(String, Int32?)])
    func deaf(script: String, status: Int32?) async throws {
        await #expect(throws: GraphvizError.failed(status: status)) {
            try await Self.draw(String(repeating: "x", count: 1 << 20), by: script)
        }
    }

    @Test("one gets the text whole, and no environment")
    func hands() async throws {
        let drawing = try await Self.draw("ab", by: "cat; echo \"$HOME\"")
        #expect(String(decoding: drawing, as: UTF8.self) == "ab\n")
    }

    @Test("what stands before the drawing is left out")
    func prolog() async throws {
        let drawing = try await Self.draw("<?xml?><!DOCTYPE svg><!-- by x 1.0 --><svg><g/></svg>", by: "cat")
        #expect(String(decoding: drawing, as: UTF8.self) == "<svg><g/></svg>")
    }

    @Test("one that is not there cannot be started")
    func missing() async throws {
        await #expect(throws: GraphvizError.cannotStart(code: ENOENT)) {
            try await GraphvizTool(path: "/nowhere/dot").svg(of: "")
        }
    }

    @Test("it is looked for in whole paths only", arguments: ["", ":", ".", "/nowhere", "relative:/nowhere"])
    func searching(path: String) {
        #expect(GraphvizTool(searching: path) == nil)
    }
}
