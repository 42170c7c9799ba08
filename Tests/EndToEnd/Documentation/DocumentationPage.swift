import Support

/// A page of documentation: its fenced blocks, each with the heading that it stands under.
struct DocumentationPage {
    struct Block {
        /// Without its number signs.
        let heading: String
        let language: String
        let text: String
        /// That of its first line, for messages.
        let line: Int

        /// The path in a first line such as `// config/flows/door.json`: the block is that file.
        var path: String? {
            guard text.hasPrefix("// "), let line = text.split(separator: "\n").first else { return nil }
            let path = line.dropFirst(3)
            return path.contains(" ") || !path.hasSuffix(".json") ? nil : String(path)
        }
    }

    let blocks: [Block]

    /// - Parameter path: in the repository.
    init(_ path: String) throws {
        var blocks: [Block] = []
        var heading = ""
        var open: (language: String, line: Int, lines: [Substring])?
        let lines = try ShippedFiles.text(path).split(separator: "\n", omittingEmptySubsequences: false)
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
    var sections: [(heading: String, blocks: [Block])] {
        blocks.reduce(into: []) { sections, block in
            if sections.last?.heading == block.heading {
                sections[sections.count - 1].blocks.append(block)
            } else {
                sections.append((block.heading, [block]))
            }
        }
    }
}
