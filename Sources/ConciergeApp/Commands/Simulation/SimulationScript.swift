import JSONDocument

/// What `concierge simulate` plays: one JSON array of steps, or one step on each line.
struct SimulationScript {
    enum Step: Equatable {
        /// - isFromBackend: whether a back end sends it.
        case event(String, data: JSONDocument?, isFromBackend: Bool)
        /// The work for the task that the journey waits for ends.
        case task(String, outcome: String, output: JSONDocument?)
        case navigate(to: String)
        case back
        /// Time passes.
        case wait(Duration)
    }

    /// What is wrong with a script, and where.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What the journey is started with, where the script says so.
    let input: JSONDocument?
    let steps: [Step]

    /// - Parameter name: the file's, for messages.
    init(_ bytes: [UInt8], named name: String) throws(Failure) {
        let whole = try? JSONDocument(parsing: bytes, comments: true)
        // `concierge paths` prints its scripts as objects with the steps in `events`.
        input = whole?[member: "events"] == nil ? nil : whole?[member: "input"]
        if let elements = whole?.elements ?? whole?[member: "events"]?.elements {
            var steps: [Step] = []
            for (index, element) in elements.enumerated() {
                steps.append(try Self.step(element, at: "\(name): /\(index)"))
            }
            self.steps = steps
        } else {
            steps = try Self.lines(bytes, name)
        }
    }

    private static func lines(_ bytes: [UInt8], _ name: String) throws(Failure) -> [Step] {
        var steps: [Step] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.trimmed.allSatisfy({ $0 == UInt8(ascii: "\r") }) {
            let place = "\(name):\(index + 1)"
            let document: JSONDocument
            do {
                document = try JSONDocument(parsing: Array(line))
            } catch {
                throw Failure(description: "\(place): \(error)")
            }
            steps.append(try step(document, at: place))
        }
        return steps
    }

    private static func step(_ document: JSONDocument, at place: String) throws(Failure) -> Step {
        let members = document.members ?? []
        func has(_ names: Set<String>) -> Bool { !members.isEmpty && members.allSatisfy { names.contains($0.name) } }
        if let event = document[member: "event"]?.string, has(["event", "data", "backend"]) {
            return .event(
                event, data: document[member: "data"], isFromBackend: document[member: "backend"]?.bool ?? false)
        }
        if let task = document[member: "task"]?.string, has(["task", "outcome", "output"]),
            let outcome = document[member: "outcome"]?.string
        {
            return .task(task, outcome: outcome, output: document[member: "output"])
        }
        if let screen = document[member: "navigate"]?.string, has(["navigate"]) { return .navigate(to: screen) }
        if document[member: "back"]?.bool == true, has(["back"]) { return .back }
        if let text = document[member: "wait"]?.string, has(["wait"]), let duration = DurationText.parse(text) {
            return .wait(duration)
        }
        throw Failure(
            description: "\(place): this is not a step; allowed is {\"event\": …, \"data\": …}, {\"navigate\": …}, "
                + "{\"back\": true}, {\"task\": …, \"outcome\": …, \"output\": …} or {\"wait\": \"31m\"}")
    }
}

extension SimulationScript.Step: CustomStringConvertible {
    /// As the output names it.
    var description: String {
        switch self {
        case .event(let name, let data, let isFromBackend):
            (isFromBackend ? "back end: " : "") + (data.map { "\(name) \($0)" } ?? name)
        case .task(let name, let outcome, let output):
            "task \(name): \(outcome)" + (output.map { " \($0)" } ?? "")
        case .navigate(let screen): "navigate to \(screen)"
        case .back: "back"
        case .wait(let duration): "wait \(DurationText.format(duration))"
        }
    }
}
