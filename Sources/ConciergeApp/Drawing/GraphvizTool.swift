import Glibc
import Threads

/// Graphviz' `dot`, a program of its own, which lays out a graph and draws it.
///
/// It is started for each drawing and has nothing but the text: no file, no network address, no environment. What it
/// says on standard error is thrown away, and what it takes too long for as well.
package struct GraphvizTool: Sendable {
    /// Where the program is.
    package let path: String
    private let arguments: [String]
    private let limits: GraphvizLimits

    /// Looks for `dot` as a shell would. Nil when it is not installed: then there are no drawings.
    ///
    /// - Parameter searchPath: folders with colons between them, as in the variable `PATH`.
    package init?(searching searchPath: String, limits: GraphvizLimits = GraphvizLimits()) {
        let folders = searchPath.split(separator: ":").filter { $0.hasPrefix("/") }
        guard let path = folders.map({ String($0) + "/dot" }).first(where: { access($0, X_OK) == 0 }) else {
            return nil
        }
        self.init(path: path, limits: limits)
    }

    init(path: String, arguments: [String] = ["-Tsvg"], limits: GraphvizLimits = GraphvizLimits()) {
        self.path = path
        self.arguments = arguments
        self.limits = limits
    }

    /// Draws a graph. May take a few hundred milliseconds, in which no thread of the caller's is taken: keep the result.
    ///
    /// - Parameter dot: the graph in Graphviz' language.
    /// - Throws: ``GraphvizError``.
    package func svg(of dot: String) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            let drawing = GraphvizDrawing(path: path, arguments: arguments, input: Array(dot.utf8), limits: limits)
            DetachedThread.run("drawing") {
                continuation.resume(with: Result { Self.withoutProlog(try drawing.draw()) })
            }
        }
    }

    /// The element alone. Before it the program says that it was the one, and in which version, which is nobody's
    /// business, and names a DOCTYPE, for which some readers would ask another machine. Option `svg_inline` leaves that
    /// out, but is of later versions only.
    private static func withoutProlog(_ drawing: [UInt8]) -> [UInt8] {
        let tag = Array("<svg".utf8)
        for place in drawing.indices where drawing[place] == tag[0] && drawing[place...].starts(with: tag) {
            return Array(drawing[place...])
        }
        return drawing
    }
}

/// How much a drawing may cost.
package struct GraphvizLimits: Sendable {
    /// In seconds. A flow of two hundred screens needs about one.
    var time = 5.0
    /// A drawing larger than this is of no use to anybody.
    var bytes = 16 << 20

    package init() {}
}

/// Why there is no drawing.
package enum GraphvizError: Error, Sendable, Equatable {
    /// The program cannot be started, for want of processes, memory or descriptors.
    case cannotStart(code: Int32)
    /// It took longer than it may.
    case timedOut
    /// It drew more than it may.
    case tooLarge
    /// It ended with that status, or was ended by a signal (nil).
    case failed(status: Int32?)
}
