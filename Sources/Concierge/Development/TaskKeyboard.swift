import Commands
import Glibc
import JSONDocument
import Sessions
import Threads

/// Asks the author at the keyboard what tasks end with, one after the other.
actor TaskKeyboard {
    private let output: ProgramOutput
    private let lines: AsyncStream<String>
    /// The question before.
    private var last: Task<TaskReport?, Never>?

    /// Nil when nobody sits there.
    init?(_ output: ProgramOutput) {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        self.output = output
        let (lines, input) = AsyncStream<String>.makeStream()
        self.lines = lines
        // It waits for a line until the process ends.
        let isStarted = DetachedThread.start("keyboard", isAwaited: false) {
            while let line = readLine() { input.yield(line) }
            input.finish()
        }
        guard isStarted else { return nil }
    }

    /// - Returns: nil when there are no more lines.
    func end(of task: String, _ input: JSONDocument, _ outcomes: [String]) async -> TaskReport? {
        let former = last
        let question = Task { [output, lines] in
            _ = await former?.value
            let choices = outcomes.enumerated().map { "\($0 + 1) \($1)" }.joined(separator: ", ")
            output.result("task \(task) \(input)\n")
            output.result("which outcome? \(choices.isEmpty ? "any name" : choices); JSON after it is the output\n")
            for await line in lines {
                do {
                    if let report = try Self.report(line, outcomes) { return TaskReport?.some(report) }
                } catch {
                    output.complaint("\(error)\n")
                }
            }
            return nil
        }
        last = question
        return await withTaskCancellationHandler {
            await question.value
        } onCancel: {
            question.cancel()
        }
    }

    /// - Returns: nil for an empty line.
    private static func report(_ line: String, _ outcomes: [String]) throws -> TaskReport? {
        let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard let word = words.first else { return nil }
        var outcome = String(word)
        if let number = Int(word), outcomes.indices.contains(number - 1) { outcome = outcomes[number - 1] }
        guard words.count > 1 else { return TaskReport(outcome: outcome) }
        return TaskReport(outcome: outcome, output: try JSONDocument(parsing: Array(words[1].utf8)))
    }
}
