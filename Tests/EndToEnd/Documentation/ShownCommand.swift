import Commands
import ConciergeApp
import Configuration
import HTTPTestClient
import Support
import Synchronization
import Testing

/// A command that a page shows, and what it shows of its output.
struct ShownCommand {
    /// The words of the command, without quotes.
    let words: [String]
    let output: String

    /// The commands of a block, each with what follows up to the next.
    static func all(in block: String) -> [ShownCommand] {
        var commands: [(line: Substring, output: [Substring])] = []
        for line in block.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("$ ") {
                commands.append((line.dropFirst(2), []))
            } else if !commands.isEmpty {
                commands[commands.count - 1].output.append(line)
            }
        }
        return commands.map { ShownCommand(words: words(of: $0.line), output: $0.output.joined(separator: "\n")) }
    }

    /// As a shell takes a line apart that has no more than quotes.
    private static func words(of line: Substring) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let last = word { words.append(last) }
        return words
    }
}

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

/// A request that a page shows as a command of curl.
struct ShownRequest {
    private var method: String?
    private var path = ""
    private var fields: [(name: String, value: String)] = []
    private var body: String?
    private var showsHead = false

    /// - Parameters:
    ///   - words: of the command.
    ///   - token: what stands for `$AUTH`.
    /// - Throws: for what no page has used so far.
    init(_ words: [String], token: String) throws {
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            switch word {
            case "-s": continue
            case "-i": showsHead = true
            case "-X": method = rest.popFirst()
            case "-d": body = rest.popFirst()
            case "-H":
                let field = rest.popFirst() ?? ""
                switch field {
                case "$AUTH": fields.append(("Authorization", "Bearer \(token)"))
                case "$JSON": fields.append(("Content-Type", "application/json"))
                default:
                    guard let colon = field.firstIndex(of: ":") else { throw UnknownWord(word: field) }
                    let value = field[colon...].dropFirst().drop { $0 == " " }
                    fields.append((String(field[..<colon]), String(value)))
                }
            default:
                guard word.hasPrefix("localhost:8080/") else { throw UnknownWord(word: word) }
                path = String(word.dropFirst("localhost:8080".count))
            }
        }
    }

    /// What curl would print.
    func send(by client: TestClient) async throws -> String {
        let answer = try await client.send(
            method ?? (body == nil ? "GET" : "POST"), path, json: body, fields: fields)
        guard showsHead else { return answer.text }
        let head = answer.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        return "HTTP/1.1 \(answer.status) \(answer.reason)\n\(head)\n\n\(answer.text)"
    }

    struct UnknownWord: Error {
        let word: String
    }
}
