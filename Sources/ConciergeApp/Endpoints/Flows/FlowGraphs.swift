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
        let showsGuards: Bool

        init(_ flow: FlowDefinition, _ form: GraphForm, _ showsGuards: Bool) {
            self.showsGuards = showsGuards
            self.flow = flow.id
            version = flow.version
            self.form = form
        }
    }

    private let draw: Drawing?
    private let texts = Mutex<[Key: Representation]>([:])
    /// One that is being drawn is waited for by all who ask for it, so that it is drawn once.
    private let drawings = Mutex<[Key: Task<Representation, any Error>]>([:])

    /// - Parameter draw: nil where there is no tool for it.
    init(draw: Drawing?) { self.draw = draw }

    /// What can be had, the default first.
    var forms: [GraphForm] { GraphForm.allCases.filter { $0 != .svg || draw != nil } }

    /// - Throws: `Problem` 503 `drawing_failed`.
    func graph(
        of flow: FlowDefinition, as form: GraphForm, showsGuards: Bool = true
    ) async throws -> Representation {
        switch form {
        case .mermaid: text(of: flow, as: form, showsGuards, \.mermaid)
        case .graphviz: text(of: flow, as: form, showsGuards, \.graphviz)
        case .svg: try await drawing(of: flow, showsGuards)
        }
    }

    private func text(
        of flow: FlowDefinition, as form: GraphForm, _ showsGuards: Bool, _ text: (FlowGraph) -> String
    ) -> Representation {
        let key = Key(flow, form, showsGuards)
        if let known = texts.withLock({ $0[key] }) { return known }
        // Two who ask at once make it twice, and the same.
        let made = Representation(form.contentType, Array(text(FlowGraph(flow, showsGuards: showsGuards)).utf8))
        texts.withLock { $0[key] = made }
        return made
    }

    private func drawing(of flow: FlowDefinition, _ showsGuards: Bool) async throws -> Representation {
        guard let draw else { throw Problem(.drawingFailed, fields: [.retryAfter: "5"]) }
        let key = Key(flow, .svg, showsGuards)
        let task = drawings.withLock { drawings in
            if let task = drawings[key] { return task }
            let task = Task {
                Representation(
                    GraphForm.svg.contentType, try await draw(FlowGraph(flow, showsGuards: showsGuards).graphviz))
            }
            drawings[key] = task
            return task
        }
        do {
            return try await task.value
        } catch {
            // The next one who asks tries again.
            drawings.withLock { if $0[key] == task { $0[key] = nil } }
            throw Problem(.drawingFailed, fields: [.retryAfter: "5"])
        }
    }
}
