import JSONDocument
import SeededRandomness

/// A form of questions at random, and a person who fills it in, goes back and changes answers.
///
/// The model knows no stack that moves: after each answer, the stack must be the one on which that question was first
/// reached, and what somebody passes who walks on from it, with the answers as they are, up to the first thing that wants
/// a person.
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
        let page: Page?
        /// Whether the event of the answer has the way on as well, or another event has it.
        let isListed: Bool
        /// Whether it asks for two values, and each is sent by itself.
        let isDouble: Bool
        /// Whether work outside comes before it.
        let hasTask: Bool
    }

    private enum Page {
        /// It may be passed for the person.
        case passable
        /// Only the person passes it.
        case silent
    }

    private var generator: SeededGenerator
    private let questions: [Question]
    private var answers: [Int: Int] = [:]
    /// The questions whose second value is there.
    private var seconds: Set<Int> = []
    private var traveller: Traveller

    init(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...8, using: &generator)
        // A listed way on is only taken by a `resume`, which starts no work.
        let hasTasks = Int.random(in: 0...2, using: &generator) == 0
        questions = (0..<count).map { place in
            Question(
                skips: Int.random(in: 0...2, using: &generator),
                dependents: ((place + 1)..<(count + 1)).filter {
                    $0 < count && Int.random(in: 0...5, using: &generator) == 0
                },
                page: [nil, .passable, .silent].randomElement(using: &generator) ?? nil,
                isListed: Bool.random(using: &generator) && !hasTasks, isDouble: Bool.random(using: &generator),
                hasTask: hasTasks && place > 0 && Int.random(in: 0...3, using: &generator) == 0)
        }
        self.generator = generator
        traveller = try Traveller(Self.flow(questions))
        traveller.services["limits"] = .emptyObject
        try traveller.send("start")
    }

    private static func flow(_ questions: [Question]) -> JSONDocument {
        func first(_ place: Int) -> JSONDocument {
            guard place < questions.count else { return "summary" }
            return questions[place].hasTask ? JSONDocument("work\(place)") : shown(place)
        }
        func shown(_ place: Int) -> JSONDocument {
            JSONDocument(questions[place].page == nil ? "q\(place)" : "page\(place)")
        }
        var states: [(name: String, value: JSONDocument)] = [("begin", ["on": ["start": ["target": first(0)]]])]
        var changes: [(name: String, value: JSONDocument)] = [("send", ["target": "sent"])]
        for (place, question) in questions.enumerated() {
            let path = JSONDocument("/limits/a\(place)")
            let give: JSONDocument = [["op": "add", "path": path, "value": ["$from": "/event/value"]]]
            let resume: JSONDocument = ["target": "summary", "nav": "resume", "actions": give]
            let after = JSONDocument("after\(place)")
            let second = JSONDocument("/limits/b\(place)")
            let names = ["a\(place)"] + (question.isDouble ? ["b\(place)"] : [])
            let isGiven: JSONDocument = [
                "service": "limits", "schema": ["required": JSONDocument(names.map { JSONDocument($0) })],
            ]
            var on: JSONDocument =
                question.isListed
                ? ["submit": [resume, ["target": after, "actions": give]]]
                : ["submit": resume, "next": ["target": after, "guard": isGiven]]
            if question.isDouble {
                let give: JSONDocument = [["op": "add", "path": second, "value": 1]]
                on = on.merging(["second": ["target": "summary", "nav": "resume", "actions": give]])
            }
            let asked: JSONDocument = question.isDouble ? [path, second] : [path]
            states.append(("q\(place)", ["answers": asked, "on": on]))
            if question.hasTask {
                states.append(
                    ("work\(place)", ["type": "task", "task": "work", "on": ["done": ["target": shown(place)]]]))
            }
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
            if let page = question.page {
                let screen: JSONDocument = ["on": ["go": ["target": JSONDocument("q\(place)")]]]
                states.append(("page\(place)", page == .passable ? screen.merging(["answers": []]) : screen))
            }
            changes.append(("change\(place)", ["target": JSONDocument("q\(place)")]))
        }
        states += [("summary", ["on": JSONDocument(members: changes)]), ("sent", ["type": "final"])]
        let invalidates = questions.enumerated().map { place, question in
            let dependents = question.dependents.flatMap { ["/limits/a\($0)", "/limits/b\($0)"] }
            return (name: "/limits/a\(place)", value: JSONDocument(dependents.map { JSONDocument($0) }))
        }
        return [
            "id": "form", "version": 1, "initial": "begin", "states": JSONDocument(members: states),
            "invalidates": JSONDocument(members: invalidates),
        ]
    }

    /// - Returns: what was done.
    mutating func step() throws -> String {
        guard let screen = traveller.screen else { throw Difference(description: "it has ended") }
        if screen.hasPrefix("work") {
            let below = Array(traveller.stack.dropLast())
            try traveller.endTask("ok")
            let place = Int(screen.dropFirst(4)) ?? 0
            try expect(below + [questions[place].page == nil ? "q\(place)" : "page\(place)"], "end of the work")
            return "work"
        }
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
        let before = traveller.stack
        let hadAnswer = isAnswered(place)
        // From where a person has walked to: elsewhere the screens behind the work would be on the stack twice.
        let twin = before.dropLast().lastIndex(of: "q\(place)")
        if hadAnswer, twin == nil, let next = next(after: place), next < questions.count, questions[next].hasTask,
            Bool.random(using: &generator)
        {
            try traveller.send("next")
            try expect(before + ["work\(next)"], "next")
            return "next"
        }
        if questions[place].isDouble, Bool.random(using: &generator) {
            seconds.insert(place)
            try traveller.send("second")
        } else {
            let value = Int.random(in: 0...1, using: &generator)
            if answers[place] != value { forget(questions[place].dependents) }
            answers[place] = value
            try traveller.send("submit", ["value": JSONDocument(value)])
        }
        let onward = isAnswered(place) ? walked(after: place) : []
        // Where nothing can be gone, the screen stays where it is: also on a summary from which it was asked for again.
        let below = onward.isEmpty ? before : twin.map { Array(before[...$0]) } ?? before
        try expect(below + onward, "answer to \(place)")
        if Int.random(in: 0...3, using: &generator) == 0 { try link() }
        let kept = JSONDocument(
            members: answers.map { ("a\($0.key)", JSONDocument($0.value)) } + seconds.map { ("b\($0)", 1) })
        guard traveller.services["limits"] == kept else {
            throw Difference(description: "kept \(traveller.services["limits"]), by the model \(kept)")
        }
        return !isAnswered(place) ? "half" : hadAnswer ? "answer again" : "answer"
    }

    private func isAnswered(_ place: Int) -> Bool {
        answers[place] != nil && (!questions[place].isDouble || seconds.contains(place))
    }

    /// The question that follows one by its answer; one past the last for the summary.
    private func next(after place: Int) -> Int? {
        answers[place].map { min(place + 1 + ($0 == 1 ? questions[place].skips : 0), questions.count) }
    }

    /// A link to the summary leads there when everything is answered that is asked, and changes nothing.
    private func link() throws {
        let walked = ["begin"] + walked(after: nil)
        let found = try? traveller.engine.start(
            flow: "form", id: "link", at: "summary", services: traveller.services, now: traveller.now)
        let stack = found?.step.journey.frames.map(\.state)
        guard stack == (walked.last == "summary" ? walked : nil), found?.step.changes.isEmpty ?? true else {
            throw Difference(description: "a link: \(stack ?? []), by the model \(walked); answers \(answers)")
        }
    }

    private mutating func forget(_ places: [Int]) {
        for place in places {
            seconds.remove(place)
            if answers.removeValue(forKey: place) != nil { forget(questions[place].dependents) }
        }
    }

    /// What somebody passes who goes on after a question as far as nobody is needed, and where that ends.
    ///
    /// - Parameter question: nil is a link from the beginning, which passes pages without a question.
    private func walked(after question: Int?) -> [String] {
        var passed: [String] = []
        var place = question.flatMap { next(after: $0) } ?? 0
        while place < questions.count {
            if questions[place].hasTask { return passed }
            if let page = questions[place].page {
                passed.append("page\(place)")
                if question != nil, page == .silent { return passed }
            }
            passed.append("q\(place)")
            guard isAnswered(place), let next = next(after: place) else { return passed }
            place = next
        }
        return passed + ["summary"]
    }

    private func expect(_ stack: [String], _ story: String) throws {
        guard traveller.stack == stack else {
            throw Difference(description: "\(story): \(traveller.stack), by the model \(stack); answers \(answers)")
        }
    }
}
