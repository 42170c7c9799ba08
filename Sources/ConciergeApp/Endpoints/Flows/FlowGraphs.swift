import API
import FlowTools
import Navigation
import Synchronization

/// The graphs of flows, each made when it is first asked for and then kept: there are as many as versions are loaded,
/// and none of them changes.
final class FlowGraphs: Sendable {
    /// Makes SVG of a text in the language of Graphviz.
    typealias Drawing = @Sendable (String) async throws -> [UInt8]

    private struct Key: Hashable {
        let flow: String
        let version: Int
        let form: GraphForm
        let isOutline: Bool

        init(_ flow: FlowDefinition, _ form: GraphForm, _ isOutline: Bool) {
            self.isOutline = isOutline
            self.flow = flow.id
            version = flow.version
            self.form = form
        }
    }

    private let draw: Drawing?
    private let texts = Mutex<[Key: Representation]>([:])
    private enum Attempt {
        /// Made, or in progress. Concurrent requests share it.
        case begun(Task<Representation, any Error>)
        /// Another attempt would use as much processor time, and every client can ask for one.
        case failed(at: ContinuousClock.Instant)
    }

    private let drawings = Mutex<[Key: Attempt]>([:])
    private let pause: Duration

    /// - Parameters:
    ///   - draw: nil where there is no tool for it.
    ///   - pause: until what has failed is tried again.
    init(draw: Drawing?, pause: Duration = .seconds(60)) {
        self.draw = draw
        self.pause = pause
    }

    /// What can be had, the default first.
    var forms: [GraphForm] { GraphForm.allCases.filter { $0 != .svg || draw != nil } }

    /// - Throws: `Problem` 503 `drawing_failed`.
    func graph(
        of flow: FlowDefinition, as form: GraphForm, isOutline: Bool = false
    ) async throws -> Representation {
        switch form {
        case .mermaid: text(of: flow, as: form, isOutline, \.mermaid)
        case .graphviz: text(of: flow, as: form, isOutline, \.graphviz)
        case .svg: try await drawing(of: flow, isOutline)
        }
    }

    private func text(
        of flow: FlowDefinition, as form: GraphForm, _ isOutline: Bool, _ text: (FlowGraph) -> String
    ) -> Representation {
        let key = Key(flow, form, isOutline)
        if let known = texts.withLock({ $0[key] }) { return known }
        // Two who ask at once make it twice, and the same.
        let made = Representation(form.contentType, Array(text(FlowGraph(flow, isOutline: isOutline)).utf8))
        texts.withLock { $0[key] = made }
        return made
    }

    private func drawing(of flow: FlowDefinition, _ isOutline: Bool) async throws -> Representation {
        guard let draw else { throw Self.failure(retryAfter: pause) }
        let key = Key(flow, .svg, isOutline)
        let task = try drawings.withLock { drawings in
            switch drawings[key] {
            case .begun(let task): return task
            case .failed(let time) where .now - time < pause: throw Self.failure(retryAfter: time + pause - .now)
            case .failed, nil: break
            }
            let task = Task {
                Representation(
                    GraphForm.svg.contentType, try await draw(FlowGraph(flow, isOutline: isOutline).graphviz),
                    policy: ContentPolicy.drawing)
            }
            drawings[key] = .begun(task)
            return task
        }
        do {
            return try await task.value
        } catch {
            drawings.withLock { drawings in
                if case .begun(task) = drawings[key] { drawings[key] = .failed(at: .now) }
            }
            throw Self.failure(retryAfter: pause)
        }
    }

    private static func failure(retryAfter rest: Duration) -> Problem {
        Problem(.drawingFailed, fields: [.retryAfter: "\(max(1, Int((rest / .seconds(1)).rounded(.up))))"])
    }
}

/// How the graph of a flow can be had, the default first.
enum GraphForm: String, Sendable, CaseIterable {
    case mermaid = "text/vnd.mermaid"
    case graphviz = "text/vnd.graphviz"
    case svg = "image/svg+xml"

    init?(mediaType: String) { self.init(rawValue: mediaType) }

    var mediaType: String { rawValue }

    /// As the answer has it: text says how it is encoded.
    var contentType: String { self == .svg ? rawValue : "\(rawValue); charset=utf-8" }
}
