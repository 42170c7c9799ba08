import Glibc
import HTTPTestClient
import Testing

/// A command that a page shows for a shell, and what the page shows of its output.
package struct ShellCommand: Sendable {
    package let text: String
    /// Without the last newline.
    package let output: String

    /// The commands of a block, each with what follows up to the next. A command continues on the next line after a
    /// backslash and inside quotation marks.
    package static func all(in block: String) -> [ShellCommand] {
        var commands: [(text: String, output: [Substring])] = []
        for line in block.split(separator: "\n", omittingEmptySubsequences: false) {
            if let last = commands.last, last.output.isEmpty, continues(last.text) {
                commands[commands.count - 1].text += "\n\(line)"
            } else if line.hasPrefix("$ ") {
                commands.append((String(line.dropFirst(2)), []))
            } else if !commands.isEmpty {
                commands[commands.count - 1].output.append(line)
            }
        }
        return commands.map { ShellCommand(text: $0.text, output: $0.output.joined(separator: "\n")) }
    }

    private static func continues(_ text: String) -> Bool {
        text.hasSuffix("\\") || text.count { $0 == "'" } % 2 == 1
    }

    /// Runs commands one after the other in one shell, whose variables stay, and expects each to succeed.
    ///
    /// - Parameter addresses: what the page's addresses stand for.
    /// - Returns: what each has printed, without its last newline.
    package static func outputs(
        of commands: [ShellCommand], in folder: String, addresses: [String: UInt16]
    ) async throws -> [String] {
        // Each output ends with a character that no program prints.
        var script = "set -e\n" + commands.map { "\($0.text)\nprintf '\\036'\n" }.joined()
        for (address, port) in addresses { script = script.replacing(address, with: "127.0.0.1:\(port)") }
        return try await withFolder(["page.sh": script]) { _, scripts in
            try await blocking {
                let pipe = try #require(popen("cd '\(folder)' && bash '\(scripts)/page.sh' 2>&1", "re"))
                var said: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { said += buffer[..<count] }
                #expect(pclose(pipe) == 0)
                return outputs(in: String(decoding: said, as: UTF8.self))
            }
        }
    }

    /// - Parameter text: outputs, with the character behind each that no program prints.
    package static func outputs(in text: String) -> [String] {
        text.replacing("\r\n", with: "\n").split(separator: "\u{1E}", omittingEmptySubsequences: false).dropLast().map {
            String($0.last == "\n" ? $0.dropLast() : $0)
        }
    }
}

extension String {
    /// Whether this is the text of the page, in which `…` stands for anything.
    package func isShown(as page: String) -> Bool {
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
