import JSONDocument

/// What `concierge simulate` plays: one JSON array of steps, or one step on each line.
struct SimulationScript {
    enum Step: Equatable {
        /// - isFromBackend: whether a back end sends it.
        case event(String, data: JSONDocument?, isFromBackend: Bool)
        /// The work for the task that the journey waits for ends.
        case task(String, outcome: String, output: JSONDocument?)
        case navigate(to: String, params: JSONDocument?)
        case back
        /// A user is signed in, or out: nil.
        case user(String?)
        /// Time passes.
        case wait(Duration)
    }

    /// What there is before the first step.
    struct Given {
        var services: [(name: String, value: JSONDocument)] = []
        /// The id and the claims of the user who is signed in.
        var user: (id: String, claims: JSONDocument)?
        /// Milliseconds since 1970.
        var now: Int64?
        /// The screen to begin at.
        var at: String?
        /// Child flows that end at once, with this outcome and output.
        var children: [String: (outcome: String, output: JSONDocument)] = [:]
        /// Tasks that end at once, with this outcome and output.
        var tasks: [String: (outcome: String, output: JSONDocument)] = [:]
    }

    /// The flow and its version, where the script says so.
    var flow: String?
    var version: Int?
    /// What the journey is started with, where the script says so.
    var input: JSONDocument?
    var given = Given()
    var steps: [Step] = []
    /// For each step what comes of it, where the script says so.
    var expectations: [Expectation?] = []

    /// One script.
    ///
    /// - Parameter name: the file's, for messages.
    init(_ bytes: [UInt8], named name: String) throws(UsageError) {
        let whole: JSONDocument
        do {
            whole = try JSONDocument(parsing: bytes, comments: true)
        } catch {
            // A list of steps may also have one on each line.
            let first = bytes.split(separator: UInt8(ascii: "\n")).first.map { Array($0) } ?? []
            guard first.isEmpty || (try? JSONDocument(parsing: first)) != nil else {
                throw UsageError("\(name): \(error)")
            }
            self.init()
            try takeLines(bytes, name)
            return
        }
        guard Self.isScript(whole) else {
            self.init()
            try takeLines(bytes, name)
            return
        }
        try self.init(whole, named: name)
    }

    /// All scripts of a file: one, or those in its `scripts`, as `concierge paths` prints them.
    static func all(_ bytes: [UInt8], named name: String) throws(UsageError) -> [(
        name: String, script: SimulationScript
    )] {
        let whole = try? JSONDocument(parsing: bytes, comments: true)
        guard let list = whole?[member: "scripts"]?.elements else {
            return [(name, try SimulationScript(bytes, named: name))]
        }
        var scripts: [(name: String, script: SimulationScript)] = []
        for (index, element) in list.enumerated() {
            let name = "\(name): /scripts/\(index)"
            var script = try SimulationScript(element, named: name)
            script.flow = script.flow ?? whole?[member: "flow"]?.string
            script.version = script.version ?? whole?[member: "version"]?.int
            scripts.append((name, script))
        }
        return scripts
    }

    private init() {}

    private static func isScript(_ whole: JSONDocument) -> Bool {
        whole.kind == .array || whole[member: "events"] != nil || whole[member: "steps"] != nil
    }

    private init(_ whole: JSONDocument, named name: String) throws(UsageError) {
        let known: Set<String> = ["flow", "version", "description", "input", "given", "steps", "events", "takes"]
        if let other = whole.members?.first(where: { !known.contains($0.name) })?.name {
            throw UsageError("\(name): a script has no \"\(other)\"; it has flow, description, input, given and steps")
        }
        // `concierge paths` prints its scripts as objects with the steps in `events`.
        let key = whole[member: "steps"] == nil ? "events" : "steps"
        guard let elements = whole.elements ?? whole[member: key]?.elements else {
            throw UsageError("\(name): steps is not an array")
        }
        flow = try Self.text("flow", of: whole, at: name)
        if let number = whole[member: "version"] {
            guard let version = number.int else { throw UsageError("\(name): version is not an integer") }
            self.version = version
        }
        input = whole[member: "input"]
        if let given = whole[member: "given"] { self.given = try Given(given, at: "\(name): /given") }
        for (index, element) in elements.enumerated() {
            try take(element, at: whole.elements == nil ? "\(name): /\(key)/\(index)" : "\(name): /\(index)")
        }
    }

    private static func text(_ name: String, of document: JSONDocument, at place: String) throws(UsageError) -> String?
    {
        guard let value = document[member: name] else { return nil }
        guard let text = value.string else { throw UsageError("\(place): \(name) is not a string") }
        return text
    }

    private mutating func take(_ document: JSONDocument, at place: String) throws(UsageError) {
        let expectation = document[member: "expect"]
        expectations.append(
            try expectation.map { value throws(UsageError) in try Expectation(value, at: "\(place)/expect") })
        steps.append(try Self.step(expectation == nil ? document : document.merging(["expect": nil]), at: place))
    }

    private mutating func takeLines(_ bytes: [UInt8], _ name: String) throws(UsageError) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.allSatisfy(" \t\r".utf8.contains) {
            let place = "\(name):\(index + 1)"
            let document: JSONDocument
            do {
                document = try JSONDocument(parsing: Array(line))
            } catch {
                throw UsageError("\(place): \(error)")
            }
            try take(document, at: place)
        }
    }

    private static func step(_ document: JSONDocument, at place: String) throws(UsageError) -> Step {
        let members = document.members ?? []
        func has(_ names: Set<String>) -> Bool { !members.isEmpty && members.allSatisfy { names.contains($0.name) } }
        if let event = document[member: "event"]?.string, has(["event", "data", "backend"]),
            let isFromBackend = (document[member: "backend"] ?? false).bool
        {
            return .event(event, data: document[member: "data"], isFromBackend: isFromBackend)
        }
        if let task = document[member: "task"]?.string, has(["task", "outcome", "output"]),
            let outcome = document[member: "outcome"]?.string
        {
            return .task(task, outcome: outcome, output: document[member: "output"])
        }
        if let screen = document[member: "navigate"]?.string, has(["navigate", "params"]) {
            return .navigate(to: screen, params: document[member: "params"])
        }
        if document[member: "back"]?.bool == true, has(["back"]) { return .back }
        if let user = document[member: "user"], has(["user"]), user.isNull || user.string != nil {
            return .user(user.string)
        }
        if let text = document[member: "wait"]?.string, has(["wait"]), let duration = DurationText.parse(text) {
            return .wait(duration)
        }
        throw UsageError(
            "\(place): this is not a step; allowed is {\"event\": …, \"data\": …}, {\"navigate\": …}, "
                + "{\"back\": true}, {\"task\": …, \"outcome\": …, \"output\": …}, {\"user\": \"ada\"} or {\"wait\": \"31m\"}"
        )
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
        case .navigate(let screen, let params):
            "navigate to \(screen)" + (params.map { " \($0)" } ?? "")
        case .back: "back"
        case .user(let user): user.map { "\($0) is signed in" } ?? "the user is signed out"
        case .wait(let duration): "wait \(DurationText.format(duration))"
        }
    }
}
