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
    }

    private let draw: Drawing?
    /// A graph that is being made is waited for by all who ask for it, so that it is made once.
    private let graphs = Mutex<[Key: Task<Representation, any Error>]>([:])

    /// - Parameter draw: nil where there is no tool for it.
    init(draw: Drawing?) { self.draw = draw }

    /// What can be had, the default first.
    var forms: [GraphForm] { GraphForm.allCases.filter { $0 != .svg || draw != nil } }

    /// - Throws: `Problem` 503 `drawing_failed`.
    func graph(of flow: FlowDefinition, as form: GraphForm) async throws -> Representation {
        let key = Key(flow: flow.id, version: flow.version, form: form)
        let task = graphs.withLock { graphs in
            if let task = graphs[key] { return task }
            let task = Task { [draw] in try await Self.make(flow, form, draw) }
            graphs[key] = task
            return task
        }
        do {
            return try await task.value
        } catch {
            // The next one who asks tries again.
            graphs.withLock { if $0[key] == task { $0[key] = nil } }
            throw Problem(.drawingFailed, fields: [.retryAfter: "5"])
        }
    }

    private static func make(
        _ flow: FlowDefinition, _ form: GraphForm, _ draw: Drawing?
    ) async throws -> Representation {
        let graph = FlowGraph(flow)
        let bytes =
            switch form {
            case .mermaid: Array(graph.mermaid.utf8)
            case .graphviz: Array(graph.graphviz.utf8)
            case .svg: try await draw?(graph.graphviz) ?? []
            }
        return Representation(form.contentType, bytes)
    }
}
