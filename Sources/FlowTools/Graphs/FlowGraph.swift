import JSONDocument
import Navigation

/// A drawing of a flow as text: its states, and the transitions between them.
///
/// ```swift
/// let graph = FlowGraph(definition)
/// graph.mermaid   // text/vnd.mermaid
/// graph.graphviz  // text/vnd.graphviz, which the `dot` tool draws
/// ```
///
/// Both have the same content. All transitions from one state to another are one arrow, which has a line for each, as
/// in a state chart: `event [guard]`, then marks, which the legend explains, the names of `params` in parentheses, and
/// the verb, unless it is `push`. Where one of several transitions is taken, each begins with its number in the order
/// in which their guards are tested. A transition without a target, which stays or goes back, is a line in its node. So
/// are the transitions of a screen that lead back to many others, such as the change links of a summary. The events of
/// the flow start at a node that stands for any screen.
public struct FlowGraph: Sendable {
    let title: String
    let nodes: [GraphNode]
    let arrows: [GraphArrow]
    /// The marks that the drawing uses.
    let legend: [GraphMark]

    /// Collects the nodes and edges of the drawing.
    ///
    /// - Parameter isOutline: whether guards, services, actions, tasks and the values in titles are left out.
    public init(_ definition: FlowDefinition, isOutline: Bool = false) {
        var collector = GraphCollector(definition, isOutline: isOutline)
        collector.collect()
        title = "\(definition.id) \(definition.version)"
        nodes = collector.nodes
        arrows = collector.arrows
        legend = GraphMark.allCases.filter(collector.marks.contains)
    }
}

/// A shape in the drawing.
struct GraphNode: Sendable, Equatable {
    /// The name for arrows: letters and digits only.
    let key: String
    let shape: Shape
    /// For people.
    let title: String?
    /// The id of the state.
    let id: String
    /// Its details.
    var lines: [String] = []

    enum Shape: String, Sendable, CaseIterable {
        case start, screen, choice, flow, task, final
        /// Stands for every screen of the flow and of its children.
        case anywhere
    }
}

/// An arrow from one node to another.
struct GraphArrow: Sendable, Equatable {
    let from: String
    let to: String
    /// One for each transition.
    var lines: [String]
    /// Whether it needs no event of the flow: going back, a timeout.
    var isQuiet: Bool
}

/// A sign in the drawing.
enum GraphMark: String, Sendable, CaseIterable {
    case data = "▤"
    case actions = "✎"
    case modal = "⧉"
    case invalidate = "⊘"
    case back = "↩"
    case time = "◷"
    case task = "⚙"

    /// For the legend.
    var meaning: String {
        switch self {
        case .data: "shows data"
        case .actions: "changes data"
        case .modal: "opens a modal context"
        case .invalidate: "no way back past this point"
        case .back: "what going back does"
        case .time: "after a time"
        case .task: "work of a back end"
        }
    }
}

/// Collects the nodes and arrows of a definition.
struct GraphCollector {
    private(set) var nodes: [GraphNode] = []
    private(set) var arrows: [GraphArrow] = []
    /// The index of each of ``arrows``, by its two ends.
    private var places: [[String]: Int] = [:]
    private(set) var marks: Set<GraphMark> = []
    private let definition: FlowDefinition
    private let text: GraphText
    private let isOutline: Bool

    init(_ definition: FlowDefinition, isOutline: Bool = false) {
        self.definition = definition
        self.isOutline = isOutline
        text = GraphText(definition)
    }

    mutating func collect() {
        nodes.append(GraphNode(key: "start", shape: .start, title: nil, id: ""))
        add(GraphArrow(from: "start", to: Self.key(definition.initial), lines: [], isQuiet: false))
        for (place, state) in definition.states.enumerated() { collect(state, at: place) }
        listArrowsBack()
        if !definition.causedTransitions.isEmpty {
            nodes.append(GraphNode(key: "any", shape: .anywhere, title: nil, id: "any screen"))
            draw(definition.causedTransitions, from: "any")
        }
    }

    private mutating func collect(_ state: FlowState, at place: Int) {
        let key = Self.key(place)
        switch state.kind {
        case .screen(let screen): collect(screen, of: state, key)
        case .choice: nodes.append(GraphNode(key: key, shape: .choice, title: nil, id: state.id))
        case .flow(let child):
            let version = child.version.map { " \($0)" } ?? ""
            nodes.append(
                GraphNode(key: key, shape: .flow, title: nil, id: state.id, lines: ["flow \(child.flow)\(version)"]))
        case .task(let task):
            var lines = isOutline ? [] : ["\(mark(.task)) \(task.task)"]
            if let after = task.screen.timeout?.after { lines.append(time(after)) }
            nodes.append(GraphNode(key: key, shape: .task, title: title(of: task.screen), id: state.id, lines: lines))
        case .final(let ending):
            let lines = ending.outcome == state.id ? [] : ["outcome \(ending.outcome)"]
            nodes.append(GraphNode(key: key, shape: .final, title: nil, id: state.id, lines: lines))
        }
        draw(state.causedTransitions, from: key)
        if case .target(let target) = state.screen?.back {
            add(GraphArrow(from: key, to: Self.key(target), lines: [mark(.back)], isQuiet: true))
        }
        if state.isScreen, let timeout = state.screen?.timeout, timeout.transition == nil, let after = timeout.after {
            nodes[nodes.count - 1].lines.append("\(time(after)) – expires")
        }
    }

    private mutating func collect(_ screen: Screen, of state: FlowState, _ key: String) {
        var lines: [String] = []
        if !isOutline {
            if !screen.data.isEmpty { lines.append("\(mark(.data)) \(screen.data.joined(separator: ", "))") }
            let needed = screen.requires.map(text.of).joined(separator: ", ")
            if !needed.isEmpty { lines.append("needs \(needed)") }
            for (actions, moment) in [(screen.entry, "on entry"), (screen.exit, "on exit")] where !actions.isEmpty {
                lines.append((marks(of: actions) + [moment]).joined(separator: " "))
            }
        }
        if screen.back == .forbidden { lines.append("\(mark(.back)) no way back") }
        nodes.append(GraphNode(key: key, shape: .screen, title: title(of: screen), id: state.id, lines: lines))
    }

    private func title(of screen: Screen) -> String? { screen.title?.text(in: nil, isOutline: isOutline) }

    private mutating func draw(_ transitions: [CausedTransition], from key: String) {
        let counts = Dictionary(grouping: transitions.compactMap(\.cause.list)) { $0 }.mapValues(\.count)
        var numbers: [String: Int] = [:]
        for caused in transitions {
            var number: String?
            if let list = caused.cause.list, counts[list, default: 0] > 1 {
                numbers[list, default: 0] += 1
                number = "\(numbers[list, default: 0])."
            }
            let condition = isOutline ? nil : caused.transition.guard.map { "[\(text.of($0))]" }
            if case .event(EventRule.back) = caused.cause {
                // Where it leads is said elsewhere.
                let actions = caused.transition.actions.isEmpty || isOutline ? nil : mark(.actions)
                let words = [condition, actions].compactMap(\.self)
                if !words.isEmpty {
                    nodes[nodes.count - 1].lines.append(([mark(.back)] + words).joined(separator: " "))
                }
                continue
            }
            let (cause, isQuiet): (String?, Bool) =
                switch caused.cause {
                case .event(let event): (event, false)
                case .end(let name): (name, false)
                case .timer(let timer, _): (label(of: timer), true)
                case .closed: ("otherwise", true)
                case .always: ("always", true)
                case .choice: (condition == nil && transitions.count > 1 && !isOutline ? "else" : nil, false)
                }
            draw(caused.transition, [number, cause, condition].compactMap(\.self), from: key, isQuiet: isQuiet)
        }
    }

    /// The mark for changes of data, and the names of the tasks that are recorded.
    private mutating func marks(of actions: [Action]) -> [String] {
        var words: [String] = []
        for action in actions {
            let word: String
            if case .task(let name, _) = action { word = "\(mark(.task)) \(name)" } else { word = mark(.actions) }
            if !words.contains(word) { words.append(word) }
        }
        return words
    }

    private mutating func time(_ milliseconds: Int64) -> String { "\(mark(.time)) \(Self.duration(milliseconds))" }

    private static func duration(_ milliseconds: Int64) -> String {
        DurationText.format(.milliseconds(milliseconds))
    }

    /// "◷ 90s" of a timeout, "◷ after 72h, every 24h, 3 times" of a timer.
    private mutating func label(of timer: FlowTimer) -> String {
        if timer.isTimeout, let after = timer.after { return time(after) }
        var words = [timer.after.map { "after \(Self.duration($0))" } ?? timer.at.map { "at \(text.value($0))" } ?? ""]
        if let every = timer.every { words.append("every \(Self.duration(every))") }
        if let times = timer.times { words.append("\(times) times") }
        return "\(mark(.time)) \(words.joined(separator: ", "))"
    }

    /// Adds an arrow from the last node, or a line to it. Where one that resumes leads depends on the answers.
    private mutating func draw(_ transition: Transition, _ label: [String], from key: String, isQuiet: Bool) {
        var words = label
        if !isOutline {
            words += marks(of: transition.actions)
            if let params = transition.params { words.append("(\(GraphText.names(in: params)))") }
        }
        switch transition.nav {
        case .push, nil: break
        case .present: words.append(mark(.modal))
        case .some(let verb): if transition.target != nil { words.append(verb.rawValue) }
        }
        switch transition.history {
        case .preserve: break
        case .discard: words.append("discard")
        case .invalidate: words.append(mark(.invalidate))
        }
        let line = words.joined(separator: " ")
        if transition.nav == .resume, let target = transition.target {
            nodes[nodes.count - 1].lines.append("\(line) → \(definition.states[target].id)")
        } else if let target = transition.target {
            add(GraphArrow(from: key, to: Self.key(target), lines: line.isEmpty ? [] : [line], isQuiet: isQuiet))
        } else {
            nodes[nodes.count - 1].lines.append("\(line) – \(transition.nav?.rawValue ?? "stays")")
        }
    }

    private mutating func add(_ arrow: GraphArrow) {
        if let same = places[[arrow.from, arrow.to]] {
            arrows[same].lines += arrow.lines
            arrows[same].isQuiet = arrows[same].isQuiet && arrow.isQuiet
        } else {
            places[[arrow.from, arrow.to]] = arrows.count
            arrows.append(arrow)
        }
    }

    /// With so many arrows to states nearer the start, they are lines in the node: a summary has one to each question.
    private static let manyArrowsBack = 4

    private mutating func listArrowsBack() {
        let arrowsFrom = Dictionary(grouping: arrows, by: \.from)
        let distances = Self.distances(along: arrowsFrom)
        let ids = Dictionary(nodes.map { ($0.key, $0.id) }, uniquingKeysWith: { first, _ in first })
        var lines: Set<[String]> = []
        for place in nodes.indices where nodes[place].shape == .screen {
            let key = nodes[place].key
            let back = (arrowsFrom[key] ?? []).filter { arrow in
                guard let here = distances[key], let there = distances[arrow.to] else { return false }
                return there < here && !arrow.lines.isEmpty
            }
            guard back.count >= Self.manyArrowsBack else { continue }
            for arrow in back {
                lines.insert([arrow.from, arrow.to])
                nodes[place].lines += arrow.lines.map { "\($0) → \(ids[arrow.to] ?? arrow.to)" }
            }
        }
        if !lines.isEmpty { arrows.removeAll { lines.contains([$0.from, $0.to]) } }
    }

    /// How many arrows there are at least from the start to each node.
    private static func distances(along arrowsFrom: [String: [GraphArrow]]) -> [String: Int] {
        var distances = ["start": 0]
        var reached = ["start"]
        var next = 0
        while next < reached.count {
            let key = reached[next]
            next += 1
            for arrow in arrowsFrom[key] ?? [] where distances[arrow.to] == nil {
                distances[arrow.to] = distances[key, default: 0] + 1
                reached.append(arrow.to)
            }
        }
        return distances
    }

    private mutating func mark(_ mark: GraphMark) -> String {
        marks.insert(mark)
        return mark.rawValue
    }

    private static func key(_ place: Int) -> String { "s\(place)" }
}

extension CausedTransition.Cause {
    /// Of transitions one of which is taken, the first whose guard holds, the same text; nil for one by itself.
    fileprivate var list: String? {
        switch self {
        case .event(let name): "event \(name)"
        case .choice: "choice"
        case .end(let name): "end \(name)"
        case .closed: "closed"
        case .always: "always"
        case .timer: nil
        }
    }
}
