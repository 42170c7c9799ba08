import JSONDocument

/// What an operator does through the admin listener: the words of a command line, and the call that they mean.
struct AdminCall: Sendable {
    let group: Command
    let action: String
    /// Such as `SESSION`; their places are in `path` and `body`.
    let arguments: [String]
    let method: String
    /// With an argument or a flag in braces where its value stands: `/v1/sessions/{SESSION}`.
    let path: String
    let body: Body
    let options: [Option]
    let shows: Shape
    /// What it ends or removes, as a question; nil for a call that needs none.
    let question: String?
    let summary: String
    /// The arguments of an example.
    let example: String

    enum Body {
        case none
        /// The document that an argument holds, or the file after `@`.
        case argument(String)
        /// An object of arguments, flags and constants.
        case members([Member])
    }

    /// A member of a request's body.
    struct Member: Sendable {
        let name: String
        /// The argument or the flag with the value; a flag that is missing leaves the member out.
        let source: String
        var isJSON = false
    }

    /// A flag, and where its value goes.
    struct Option: Sendable {
        let flag: Command.Flag
        var use = Use.own
        var isNeeded = false

        enum Use {
            /// `body` or `path` names it, or the command itself uses it.
            case own
            case query(String)
            case field(String)
        }
    }

    /// What is shown of the response.
    enum Shape {
        /// A table of its items.
        case table([Column], isPaged: Bool)
        /// Its members.
        case record([Column])
        /// The item of a list that has the id of the argument.
        case itemOfList([Column])
        /// A JSON document as it is.
        case document
        /// A sentence in place of an empty response.
        case sentence(String)
    }

    /// - Parameter words: the action and its arguments.
    init(
        _ group: Command, _ words: String, _ method: String, _ path: String, body: Body = .none,
        options: [Option] = [], _ shows: Shape, asks question: String? = nil, _ summary: String, _ example: String
    ) {
        let words = words.split(separator: " ").map(String.init)
        self.group = group
        action = words[0]
        arguments = Array(words.dropFirst())
        self.method = method
        self.path = path
        self.body = body
        self.shows = shows
        self.question = question
        self.summary = summary
        self.example = example
        var options = options
        if case .table(_, isPaged: true) = shows { options.append(.limit) }
        if question != nil { options.append(.yes) }
        self.options = options + [.json]
    }

    /// `session list`
    var words: String { "\(group.rawValue) \(action)" }
}

extension AdminCall.Option {
    static let json = Self(
        flag: .init(name: "--json", meaning: "JSON also on a terminal; a list has a line for each item"))
    static let yes = Self(flag: .init(name: "--yes", meaning: "do not ask whether to go on"))
    static let limit = Self(flag: .init(name: "--limit", value: "N", meaning: "the most items; default 100"))

    static func query(_ name: String, _ value: String?, _ parameter: String, _ meaning: String) -> Self {
        Self(flag: .init(name: name, value: value, meaning: meaning), use: .query(parameter))
    }
}

// The arguments of a command for operators: an action and what it needs.
extension AdminCall {
    /// The flags of all actions of a command.
    static func flags(of group: Command) -> [Command.Flag] {
        var known: Set<String> = []
        return all.filter { $0.group == group }.flatMap(\.options).map(\.flag).filter { known.insert($0.name).inserted }
    }

    /// - Parameters:
    ///   - words: the action and its arguments.
    ///   - flags: the names of the flags that are given.
    init(_ group: Command, _ words: [String], flags: some Collection<String>) throws(UsageError) {
        let calls = Self.all.filter { $0.group == group }
        let names = calls.map(\.action)
        let list =
            "one of "
            + names.enumerated().filter { names.firstIndex(of: $1) == $0 }.map(\.element)
            .joined(separator: ", ")
        guard let action = words.first else { throw UsageError("\(group.rawValue) needs an action: \(list)") }
        let candidates = calls.filter { $0.action == action }
        guard let call = candidates.first(where: { $0.arguments.count == words.count - 1 }) ?? candidates.last else {
            let question = NearestName.question(for: action, among: names)
            throw UsageError("\(group.rawValue) cannot \(action.quoted); allowed is \(list)\(question)")
        }
        self = call
        if words.count - 1 > arguments.count {
            throw UsageError("\(self.words) takes no argument \(words[arguments.count + 1].quoted)")
        }
        if words.count - 1 < arguments.count {
            throw UsageError("\(self.words) needs \(arguments[words.count - 1]): \(usage)")
        }
        for (name, value) in zip(arguments, words.dropFirst()) where Self.ids.contains(name) {
            try Self.check(value, as: name)
        }
        for flag in flags.sorted() where !options.contains(where: { $0.flag.name == flag }) {
            throw UsageError("\(self.words) has no flag \(flag.quoted): \(usage)")
        }
        for option in options where option.isNeeded && !flags.contains(option.flag.name) {
            throw UsageError("\(self.words) needs \(option.flag.name): \(usage)")
        }
    }

    /// Arguments that stand in a path.
    private static let ids: Set = ["SESSION", "SESSION/JOURNEY", "NAME", "TASK"]

    /// A path without its last part, or with another number of parts, would be another call.
    private static func check(_ value: String, as name: String) throws(UsageError) {
        let parts = value.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == name.split(separator: "/").count, !parts.contains(where: { ["", ".", ".."].contains($0) })
        else {
            let hint = name == "SESSION/JOURNEY" ? ", as in ses_0197…/main" : ""
            throw UsageError("\(value.quoted) is no \(name)\(hint)")
        }
    }

    /// `session list [--user ID]`
    var usage: String {
        let flags = options.filter { $0.flag.name != "--json" }.map { option in
            let text = option.flag.name + (option.flag.value.map { " \($0)" } ?? "")
            return option.isNeeded ? text : "[\(text)]"
        }
        return ([words] + arguments + flags).joined(separator: " ")
    }

    static func help(of group: Command) -> String {
        all.filter { $0.group == group }.map { call in
            "  concierge \(call.usage)\n      \(call.summary): concierge \(call.words)\(call.example.isEmpty ? "" : " ")\(call.example)"
        }.joined(separator: "\n")
    }
}
