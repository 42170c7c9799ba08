import JSONDocument

/// A state of a flow: something to draw, something to decide, another flow, or an end.
public struct FlowState: Sendable {
    /// The name of the state, unique in its flow.
    public let id: String
    /// What the state is.
    public let kind: Kind

    /// The kinds of state, each with its own keys in the file.
    public enum Kind: Sendable {
        /// A frame on the stack that a client draws.
        case screen(Screen)
        /// Decides and moves on: the branches in the order in which they are tried. The last one has no guard.
        case choice([Transition])
        /// Runs another flow as a child on the same stack.
        case flow(ChildFlow)
        /// Waits for work that somebody outside does, on a frame that a client shows as busy.
        case task(TaskState)
        /// Finishes the flow.
        case final(Ending)
    }

    /// The screen of this state, if it is one; of a task, the busy screen.
    public var screen: Screen? {
        switch kind {
        case .screen(let screen): screen
        case .task(let task): task.screen
        case .choice, .flow, .final: nil
        }
    }

    /// The task of this state, if it is one.
    public var task: TaskState? {
        if case .task(let task) = kind { task } else { nil }
    }

    /// The child flow of this state, if it is one.
    public var childFlow: ChildFlow? {
        if case .flow(let child) = kind { child } else { nil }
    }

    /// Whether the state is a screen, and not the busy one of a task.
    public var isScreen: Bool {
        if case .screen = kind { true } else { false }
    }

    /// The value of `type` in the file.
    public var typeName: String {
        switch kind {
        case .screen: "screen"
        case .choice: "choice"
        case .flow: "flow"
        case .task: "task"
        case .final: "final"
        }
    }
}

extension FlowState {
    private static let typeNames = ["screen", "choice", "flow", "task", "final"]
    static let choiceKeys = FlowKeys(
        ["type": ["const": "choice"], "branches": .list(of: .ref("branch"))], required: ["branches"])

    /// Reads a state. One that makes no sense becomes an end, because its index is used in any case.
    init(reading node: FlowNode, id: String, by reader: inout FlowReader) {
        let type = node.isObject ? reader.text(node["type"]) ?? "screen" : "object"
        var kind: Kind?
        switch type {
        case "screen": kind = .screen(Screen(reading: node, id: id, by: &reader))
        case "choice": kind = .choice(reader.branches(of: node))
        case "flow": kind = ChildFlow(reading: node, by: &reader).map { .flow($0) }
        case "task": kind = TaskState(reading: node, id: id, by: &reader).map { .task($0) }
        case "final": kind = .final(Ending(reading: node, id: id, by: &reader))
        case "object": reader.report(node.place, .wrongType, "a state is an object, not \(node.kind)")
        default:
            let advice = ForeignWords.advice(on: type, in: .type)
            reader.report(
                node.place.appending("type"), .badValue,
                "type is \"\(type)\"; expected one of \(Self.typeNames.joined(separator: ", ")), or none for a screen"
                    + (advice.map { "; \($0)" } ?? ""),
                guess: advice == nil ? reader.guess(type, among: Self.typeNames) : nil)
        }
        self.init(id: id, kind: kind ?? .final(Ending(outcome: id, output: nil)))
    }
}

/// A state that runs another flow on top of the same stack.
public final class ChildFlow: Sendable {
    /// The id of the flow.
    public let flow: String
    /// Nil is the highest version that is loaded.
    public let version: Int?
    /// Makes the input of the child; nil is an empty object.
    public let input: ValueTemplate?
    /// The transitions for each outcome of the child.
    public let ends: [ChildEnd]
    /// What schemas say of the input, for checking it against the child's.
    package let inputSchema: JSONDocument?

    /// The outcome of a child that was left without a `final`: by going back, by dismissing, by popping.
    public static let abandoned = "abandoned"
    /// The outcome of a flow that has no screen left whose `requires` hold. A parent that does not name it is told
    /// ``abandoned``.
    public static let closed = "closed"
    /// The outcome of a child whose own timeout has passed.
    public static let expired = "expired"

    static let keys = FlowKeys(
        [
            "type": ["const": "flow"], "flow": .name, "version": .positive, "input": ["type": "object"], "on": .ends,
        ], required: ["flow"])

    /// Nil without a name of the flow.
    init?(reading node: FlowNode, by reader: inout FlowReader) {
        reader.checkKeys(of: node, Self.keys, "a child flow")
        input = node["input"].flatMap { input in
            guard input.isObject else { return reader.refuse(input, expecting: "an object") }
            return reader.readTemplate(input, .anything)
        }
        inputSchema = input.map { reader.schema(of: $0, .anything) }
        version = reader.wholeNumber(node["version"])
        ends = reader.ends(node["on"], of: "a child flow") { _ in .anything }
        guard let flow = reader.name(reader.required("flow", in: node)) else { return nil }
        self.flow = flow
    }

    /// The transitions for an outcome: those of `done.<outcome>` if the file has them, else those of `done`.
    ///
    /// `done` covers only the outcomes that the child reached by a `final`. A child that was abandoned, was closed or
    /// ran out of time did not do its work, so only `done.abandoned`, `done.closed` and `done.expired` cover these.
    public func transitions(after outcome: String, byFinal: Bool) -> [Transition] {
        if let own = ends.first(where: { $0.outcome == outcome }) { return own.transitions }
        if byFinal { return ends.first { $0.outcome == nil }?.transitions ?? [] }
        return outcome == Self.closed ? transitions(after: Self.abandoned, byFinal: false) : []
    }
}

/// The transitions of `done.<outcome>`, of a child flow or of a task.
public struct ChildEnd: Sendable {
    /// Nil for `done`.
    public let outcome: String?
    /// The transitions in the order in which their guards are tested.
    public let transitions: [Transition]
}

extension [ChildEnd] {
    var caused: [CausedTransition] {
        flatMap { end in
            let name = end.outcome.map { "done.\($0)" } ?? "done"
            return end.transitions.map { CausedTransition(cause: .end(name), transition: $0) }
        }
    }
}

/// A state that finishes its flow.
public struct Ending: Sendable {
    /// The outcome that the parent is told and a finished journey shows; the state's id unless the file says otherwise.
    public let outcome: String
    /// Makes the result of the flow; nil is null.
    public let output: ValueTemplate?

    static let keys = FlowKeys(["type": ["const": "final"], "outcome": .name, "output": [:]])
}

extension Ending {
    fileprivate init(reading node: FlowNode, id: String, by reader: inout FlowReader) {
        reader.checkKeys(of: node, Self.keys, "a final state")
        output = node["output"].flatMap { reader.readTemplate($0, .anything) }
        outcome = reader.name(node["outcome"]) ?? id
    }
}
