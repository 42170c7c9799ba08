import ConciergeApp
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

extension String {
    /// Whether this is the text of the page, in which `…` stands for anything.
    func isShown(as page: String) -> Bool {
        let parts = page.split(separator: "…", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return self == page }
        guard hasPrefix(first) else { return false }
        var rest = dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let place = rest.firstRange(of: part) else { return false }
            rest = rest[place.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
