import JSONDocument
import SeededRandomness

/// A form of questions at random, and a person who fills it in, goes back and changes answers.
///
/// The model knows no stack that moves: after each answer, the stack must be the one of somebody who walks from the first
/// question on, with the answers as they are, as far as there are any.
struct FormTrial {
    struct Difference: Error {
        let description: String
    }

    /// What follows a question, by its answer.
    private struct Question {
        /// After the answer 1, so many questions are passed over.
        let skips: Int
        /// The questions whose answers are set back when this one changes.
        let dependents: [Int]
        /// Whether a page without a question comes before it.
        let hasPage: Bool
        /// Whether the event of the answer has the way on as well, or another event has it.
        let isListed: Bool
    }

    private var generator: SeededGenerator
    private let questions: [Question]
    private var answers: [Int: Int] = [:]
    private var traveller: Traveller

    init(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...8, using: &generator)
        questions = (0..<count).map { place in
            Question(
                skips: Int.random(in: 0...2, using: &generator),
                dependents: ((place + 1)..<(count + 1)).filter {
                    $0 < count && Int.random(in: 0...5, using: &generator) == 0
                },
                hasPage: Bool.random(using: &generator), isListed: Bool.random(using: &generator))
        }
        self.generator = generator
        traveller = try Traveller(Self.flow(questions))
        traveller.services["limits"] = .emptyObject
        try traveller.send("start")
    }

    private static func flow(_ questions: [Question]) -> JSONDocument {
        func first(_ place: Int) -> JSONDocument {
            guard place < questions.count else { return "summary" }
            return JSONDocument(questions[place].hasPage ? "page\(place)" : "q\(place)")
        }
        var states: [(name: String, value: JSONDocument)] = [("begin", ["on": ["start": ["target": first(0)]]])]
        var changes: [(name: String, value: JSONDocument)] = [("send", ["target": "sent"])]
        for (place, question) in questions.enumerated() {
            let path = JSONDocument("/limits/a\(place)")
            let give: JSONDocument = [["op": "add", "path": path, "value": ["$from": "/event/value"]]]
            let resume: JSONDocument = ["target": "summary", "nav": "resume", "actions": give]
            let after = JSONDocument("after\(place)")
            let isGiven: JSONDocument = ["service": "limits", "schema": ["required": [JSONDocument("a\(place)")]]]
            let on: JSONDocument =
                question.isListed
                ? ["submit": [resume, ["target": after, "actions": give]]]
                : ["submit": resume, "next": ["target": after, "guard": isGiven]]
            states.append(("q\(place)", ["answers": [path], "on": on]))
            states.append(
                (
                    "after\(place)",
                    [
                        "type": "choice",
                        "branches": [
                            [
                                "guard": ["compare": [path, "==", ["value": 1]]],
                                "target": first(place + 1 + question.skips),
                            ], ["target": first(place + 1)],
                        ],
                    ]
                ))
            if question.hasPage {
                states.append(("page\(place)", ["on": ["go": ["target": JSONDocument("q\(place)")]]]))
            }
            changes.append(("change\(place)", ["target": JSONDocument("q\(place)")]))
        }
        states += [("summary", ["on": JSONDocument(members: changes)]), ("sent", ["type": "final"])]
        let invalidates = questions.enumerated().map { place, question in
            (name: "/limits/a\(place)", value: JSONDocument(question.dependents.map { JSONDocument("/limits/a\($0)") }))
        }
        return [
            "id": "form", "version": 1, "initial": "begin", "states": JSONDocument(members: states),
            "invalidates": JSONDocument(members: invalidates),
        ]
    }

    /// - Returns: what was done.
    mutating func step() throws -> String {
        guard let screen = traveller.screen else { throw Difference(description: "it has ended") }
        if screen != "begin", Int.random(in: 0...4, using: &generator) == 0 {
            let below = Array(traveller.stack.dropLast())
            try traveller.back()
            try expect(below, "back")
            return "back"
        }
        switch screen {
        case "begin":
            try traveller.send("start")
            return "start"
        case "summary":
            let shown = Array(traveller.stack)
            let asked = questions.indices.filter { shown.contains("q\($0)") }
            let place = asked[Int.random(in: 0..<asked.count, using: &generator)]
            try traveller.send("change\(place)")
            try expect(shown + ["q\(place)"], "change \(place)")
            return "change"
        case let page where page.hasPrefix("page"):
            try traveller.send("go")
            return "go"
        default: return try answer(Int(screen.dropFirst()) ?? 0)
        }
    }

    private mutating func answer(_ place: Int) throws -> String {
        let value = Int.random(in: 0...1, using: &generator)
        let hadAnswer = answers[place] != nil
        if answers[place] != value { forget(questions[place].dependents) }
        answers[place] = value
        try traveller.send("submit", ["value": JSONDocument(value)])
        try expect(walked(), "answer \(value) to \(place)")
        if Int.random(in: 0...3, using: &generator) == 0 { try link() }
        let kept = JSONDocument(
            members: answers.sorted { $0.key < $1.key }.map { ("a\($0.key)", JSONDocument($0.value)) })
        guard traveller.services["limits"] == kept else {
            throw Difference(description: "kept \(traveller.services["limits"]), by the model \(kept)")
        }
        return hadAnswer ? "answer again" : "answer"
    }

    /// A link to the summary leads there when everything is answered that is asked, and changes nothing.
    private func link() throws {
        let walked = walked()
        let found = try? traveller.engine.start(
            flow: "form", id: "link", at: "summary", services: traveller.services, now: traveller.now)
        let stack = found?.step.journey.frames.map(\.state)
        guard stack == (walked.last == "summary" ? walked : nil), found?.step.changes.isEmpty ?? true else {
            throw Difference(description: "a link: \(stack ?? []), by the model \(walked); answers \(answers)")
        }
    }

    private mutating func forget(_ places: [Int]) {
        for place in places where answers.removeValue(forKey: place) != nil { forget(questions[place].dependents) }
    }

    /// The stack of somebody who walks from the beginning.
    private func walked() -> [String] {
        var stack = ["begin"]
        var place = 0
        while place < questions.count {
            if questions[place].hasPage { stack.append("page\(place)") }
            stack.append("q\(place)")
            guard let answer = answers[place] else { return stack }
            place += 1 + (answer == 1 ? questions[place].skips : 0)
        }
        return stack + ["summary"]
    }

    private func expect(_ stack: [String], _ story: String) throws {
        guard traveller.stack == stack else {
            throw Difference(description: "\(story): \(traveller.stack), by the model \(stack); answers \(answers)")
        }
    }
}
