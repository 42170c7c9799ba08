import Commands
import Configuration
import Support
import Synchronization

/// What a command says, standard output and standard error as they came.
func output(of arguments: [String], files: FileReader) async -> (text: String, status: Int32) {
    let said = SaidText()
    let output = ProgramOutput(result: { said.add($0) }, complaint: { said.add($0) })
    let status = await Program.run(arguments: arguments, environment: [:], files: files, output: output) { _ in 0 }
    return (said.text, status)
}

private final class SaidText: Sendable {
    private let collected = Mutex("")

    var text: String { collected.withLock { $0 } }

    func add(_ text: String) { collected.withLock { $0 += text } }
}
