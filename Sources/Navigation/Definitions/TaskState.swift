import JSONDocument

/// A state in which somebody outside does a piece of work, such as a back end, while the client shows a busy screen.
public final class TaskState: Sendable {
    /// The name under which the work is fetched or sent.
    public let task: String
    /// Makes the input of the task; nil is an empty object.
    public let input: ValueTemplate?
    /// What is shown meanwhile: a screen without events of its own.
    public let screen: Screen
    /// How often the work is tried.
    public let retry: TaskRetry
    /// The outcomes that a back end may report, with the schemas of their outputs; nil where the file declares none.
    public let declared: [String: ShapeRule]?
    /// The transitions for each outcome; for a nil outcome those of all the others.
    public let ends: [ChildEnd]

    /// The outcome after the last attempt has failed.
    public static let failed = "failed"
    /// The outcome when the time is over.
    public static let timeout = "timeout"

    static let keys = FlowKeys(
        [
            "type": ["const": "task"], "task": .name, "input": [:], "title": .text, "data": .list(of: .service),
            "timeout": .duration,
            "timers": .list(of: .ref("timer")), "retry": .ref("retry"), "back": ["type": "boolean"],
            "outcomes": .map(of: .jsonSchema), "on": .ends,
        ], required: ["task", "on"])

    /// - Parameter id: of the state.
    /// - Returns: nil without a name of the task.
    init?(reading node: FlowNode, id: String, by reader: inout FlowReader) {
        reader.checkKeys(of: node, Self.keys, "a task")
        input = node["input"].flatMap { reader.readTemplate($0, .anything) }
        let timeout = reader.milliseconds(node["timeout"]).map {
            FlowTimer(key: "", start: .after($0), effect: .endOfTask)
        }
        let timers = reader.timers(node["timers"])
        declared = node.has("outcomes") ? reader.outcomes(node["outcomes"]) : nil
        let written = reader.required("on", in: node)
        let named = Set(written?.members?.map(\.name) ?? [])
        ends = reader.ends(written, of: "a task", notEmpty: true) { [declared] outcome in
            DataContext(
                event: .never, hasOutput: true, output: declared.map { Self.output(of: outcome, among: $0, but: named) }
            )
        }
        screen = Screen(
            ofTask: id, title: reader.localText(node["title"], .noEvent), data: reader.shownServices(node["data"]),
            back: reader.bool(node["back"]) == true ? .allowed : .forbidden,
            timers: timers + [timeout].compactMap(\.self))
        retry = node["retry"].flatMap { TaskRetry(reading: $0, by: &reader) } ?? .never
        guard let task = reader.name(reader.required("task", in: node)) else { return nil }
        self.task = task
        check(in: node, by: &reader)
    }

    /// The output of the server's own outcome ``failed``.
    private static let failure: JSONDocument = [
        "type": "object", "required": ["reason", "attempts"],
        "properties": ["reason": ["type": "string"], "attempts": ["type": "integer", "minimum": 0]],
    ]

    /// The schema of what may be at `/output` after an outcome.
    ///
    /// - Parameters:
    ///   - outcome: nil for all that have no transition of their own.
    ///   - named: the keys of `on`.
    private static func output(
        of outcome: String?, among declared: [String: ShapeRule], but named: Set<String>
    ) -> JSONDocument {
        switch outcome {
        case failed?: return failure
        case timeout?: return ["type": "null"]
        case let outcome?: return declared[outcome]?.document ?? true
        case nil:
            let others = declared.filter { !named.contains("done.\($0.key)") }.map(\.value.document)
            guard others.count == 1, let other = others.first, named.contains("done.\(failed)") else { return true }
            return other
        }
    }

    /// Reports a timeout that never happens, outcomes that are not declared, and ends without a transition.
    private func check(in node: FlowNode, by reader: inout FlowReader) {
        let place = node.place.appending("on")
        let hasTimeout = node.has("timeout")
        if !hasTimeout, outcomes.contains(Self.timeout) {
            reader.report(
                place.appending("done.\(Self.timeout)"), .unknownOutcome,
                "the task has no timeout, so done.timeout never happens")
        }
        for outcome in [Self.failed] + (hasTimeout ? [Self.timeout] : []) where transitions(after: outcome) == nil {
            reader.report(
                place, .missingKey,
                "no transition for a task that ends with \"\(outcome)\"; write done.\(outcome), or done for every outcome "
                    + "that has no transition of its own")
        }
        guard let declared else { return }
        let known = declared.keys.sorted()
        for outcome in outcomes where outcome != Self.failed && outcome != Self.timeout && declared[outcome] == nil {
            reader.report(
                place.appending("done.\(outcome)"), .unknownOutcome,
                "the task does not declare the outcome \"\(outcome)\"; it declares \(known.joinedAsList)",
                guess: NearestName.of(outcome, among: known).map { "done.\($0)" })
        }
        for outcome in known where transitions(after: outcome) == nil {
            reader.report(
                node.place.appending("outcomes").appending(outcome), .missingKey,
                "no transition for the outcome \"\(outcome)\"; write done.\(outcome), or done for every outcome that has "
                    + "no transition of its own")
        }
    }

    /// The transitions for an outcome: those of `done.<outcome>` if the file has them, else those of `done`; nil when
    /// there are none. Unlike the end of a child flow, a failure is covered by `done`, too: the journey must be able to
    /// go on.
    public func transitions(after outcome: String) -> [Transition]? {
        (ends.first { $0.outcome == outcome } ?? ends.first { $0.outcome == nil })?.transitions
    }

    /// The outcomes that the file names in `on`.
    public var outcomes: [String] { ends.compactMap(\.outcome) }

    /// The outcomes that a back end may report, as far as the file says.
    package var reportable: [String] { declared.map { $0.keys.sorted() } ?? outcomes }

    /// Refuses a result that the task cannot have.
    func check(_ outcome: String, _ output: JSONDocument) throws(JourneyRefusal) {
        guard let declared else { return }
        guard let shape = declared[outcome] else { throw .unknownOutcome(outcome, known: reportable) }
        guard shape.accepts(output) else {
            throw .outputInvalid(outcome: outcome, shape.violations(in: output))
        }
    }
}

extension FlowReader {
    /// Reads `outcomes`: the schema of the output for each.
    fileprivate mutating func outcomes(_ node: FlowNode?) -> [String: ShapeRule] {
        for (name, node) in members(node, notEmpty: true) where name == TaskState.failed || name == TaskState.timeout {
            report(
                node.place, .badName,
                "\(name) cannot be declared: the server gives it, "
                    + (name == TaskState.failed ? "with {reason, attempts} as output" : "without an output"))
        }
        return shapes(node)
    }
}

/// How often a task is tried, and how long after a failure the next attempt may begin.
public struct TaskRetry: Sendable, Equatable {
    /// The most attempts.
    public let attempts: Int
    /// Milliseconds between the first failure and the second attempt.
    public let after: Int64
    /// Each further wait is this many times longer.
    public let factor: Double

    /// A policy; times are milliseconds.
    public init(attempts: Int, after: Int64, factor: Double) {
        self.attempts = attempts
        self.after = after
        self.factor = factor
    }

    /// One attempt.
    public static let never = TaskRetry(attempts: 1, after: 0, factor: 1)

    /// How long to wait after a failure, in milliseconds: a day at most.
    ///
    /// - Parameter attempt: the number of the attempt that failed. The first is 1.
    public func delay(afterAttempt attempt: Int) -> Int64 {
        var delay = Double(after)
        for _ in 1..<max(1, attempt) where delay < Self.longestDelay { delay *= factor }
        return Int64(min(delay, Self.longestDelay))
    }

    private static let longestDelay = 86_400_000.0

    /// More attempts than that are a mistake: with any factor the waits between them are a day long.
    private static let mostAttempts = 1_000

    static let keys = FlowKeys(
        [
            "attempts": ["type": "integer", "minimum": 1, "maximum": JSONDocument(mostAttempts)],
            "after": .duration, "factor": ["type": "number", "minimum": 1, "maximum": 100],
        ], required: ["attempts"])

    init?(reading node: FlowNode, by reader: inout FlowReader) {
        guard node.isObject else {
            reader.report(node, expecting: "an object with attempts, after and factor")
            return nil
        }
        reader.checkKeys(of: node, Self.keys, "the retry of a task")
        let attempts = reader.wholeNumber(
            reader.required("attempts", in: node, ": how often the task is tried at most"))
        if let attempts, attempts > Self.mostAttempts {
            reader.report(
                node.place.appending("attempts"), .badValue,
                "attempts is \(attempts); expected \(Self.mostAttempts) or less")
        }
        let after = reader.milliseconds(node["after"])
        let factor = node["factor"]
        let number = factor?.value.double ?? factor?.value.int.map(Double.init)
        if let factor, !(number.map { (1...100).contains($0) } ?? false) {
            reader.report(
                factor.place, number == nil ? .wrongType : .badValue,
                "factor is \(number == nil ? factor.kind : factor.value.description); expected a number from 1 to 100")
        }
        self.init(attempts: attempts ?? 1, after: after ?? 0, factor: number ?? 1)
    }
}
