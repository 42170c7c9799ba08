import Glibc
import Threads

/// Graphviz' program `dot`, which lays out and draws a graph.
///
/// A process is started for each drawing and gets nothing but the text: no file, no network address, no environment.
/// Its standard error is discarded, and so is a drawing that takes too long.
package struct GraphvizTool: Sendable {
    /// The path of the program.
    package let path: String
    private let arguments: [String]
    private let limits: GraphvizLimits

    /// Looks for `dot` as a shell does; `nil` when it is not installed. Then there are no drawings.
    ///
    /// - Parameter searchPath: directories separated by colons, as in `PATH`.
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

    /// Draws a graph. It may take a few hundred milliseconds without occupying a thread of the caller: keep the result.
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

    /// Only the SVG element. What precedes it names the program and its version, which is not public, and a DOCTYPE,
    /// which some readers would fetch. Only later versions have the option `svg_inline` for this.
    private static func withoutProlog(_ drawing: [UInt8]) -> [UInt8] {
        let tag = Array("<svg".utf8)
        for place in drawing.indices where drawing[place] == tag[0] && drawing[place...].starts(with: tag) {
            return Array(drawing[place...])
        }
        return drawing
    }
}

/// The limits of a drawing.
package struct GraphvizLimits: Sendable {
    /// In seconds. A flow of two hundred screens needs about one.
    var time = 5.0
    /// A larger drawing is useless.
    var bytes = 16 << 20

    package init() {}
}

/// Why there is no drawing.
package enum GraphvizError: Error, Sendable, Equatable {
    /// The process cannot be started: too few processes, descriptors or too little memory.
    case cannotStart(code: Int32)
    /// It took too long.
    case timedOut
    /// The drawing is too large.
    case tooLarge
    /// It ended with this status; `nil` when a signal ended it.
    case failed(status: Int32?)
}
