/// A page of documentation: its fenced blocks, each with the heading that it stands under.
package struct DocumentationPage {
    package struct Block: Sendable {
        /// Without its number signs.
        package let heading: String
        package let language: String
        package let text: String
        /// That of its first line, for messages.
        package let line: Int

        /// The path in its first line, such as `// config/flows/door.json`, or in its second: the block is that file.
        package var path: String? {
            text.split(separator: "\n").prefix(2).compactMap { line in
                line.wholeMatch(of: #/(?://|<!--) ([^ ]+\.[a-z]+)(?: -->)?/#).map { String($0.output.1) }
            }.first
        }
    }

    package let blocks: [Block]

    /// - Parameters:
    ///   - path: in the repository.
    ///   - replacements: what stands for a text of the page, such as a free port for its port.
    package init(_ path: String, replacing replacements: [String: String] = [:]) throws {
        var blocks: [Block] = []
        var heading = ""
        var open: (language: String, line: Int, lines: [Substring])?
        let text = try replacements.reduce(ShippedFiles.text(path)) { $0.replacing($1.key, with: $1.value) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            if line.hasPrefix("```") {
                if let block = open {
                    blocks.append(
                        Block(
                            heading: heading, language: block.language, text: block.lines.joined(separator: "\n"),
                            line: block.line))
                    open = nil
                } else {
                    open = (String(line.dropFirst(3)), number + 2, [])
                }
            } else if open != nil {
                open?.lines.append(line)
            } else if line.hasPrefix("#") {
                heading = String(line.drop { $0 == "#" }.dropFirst())
            }
        }
        self.blocks = blocks
    }

    /// The blocks below each heading that has some, in the order of the page.
    package var sections: [(heading: String, blocks: [Block])] {
        blocks.reduce(into: []) { sections, block in
            if sections.last?.heading == block.heading {
                sections[sections.count - 1].blocks.append(block)
            } else {
                sections.append((block.heading, [block]))
            }
        }
    }
}
