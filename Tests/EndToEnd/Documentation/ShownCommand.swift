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
