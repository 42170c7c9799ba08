import Foundation
import Support
import Testing

/// What only the text of the repository shows.
@Suite("The text of the repository")
struct SourceTextTests {
    private static let root = URL(filePath: ShippedFiles.directory, directoryHint: .isDirectory)

    /// The paths of all files below a folder, those of builds and other hidden ones aside.
    private static func files(below folder: String, ending: String) throws -> [String] {
        let base = root.appending(path: folder).standardizedFileURL
        let found = try #require(
            FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil, options: .skipsHiddenFiles))
        let paths = found.compactMap { ($0 as? URL)?.standardizedFileURL.path(percentEncoded: false) }
        let length = root.path(percentEncoded: false).count
        return paths.filter { $0.hasSuffix(ending) }.map { String($0.dropFirst(length)) }.sorted()
    }

    private static func lines(_ path: String) throws -> [Substring] {
        try ShippedFiles.text(path).split(separator: "\n", omittingEmptySubsequences: false)
    }

    // MARK: Comments

    /// The modules of the products that are libraries.
    static let libraries = [
        "ServiceLocator", "HTTPServer", "Navigation", "JSONDocument", "Sessions", "ConciergeClient",
    ]

    @Test("every public symbol of a library has a doc comment", arguments: libraries)
    func publicSymbols(module: String) throws {
        var count = 0
        for path in try Self.files(below: "Sources/\(module)", ending: ".swift") {
            let lines = try Self.lines(path)
            // The public enum or protocol around the line: all of its cases or requirements are public.
            var type: (kind: Substring, indentation: Int)?
            for (place, line) in lines.enumerated() {
                let isMember = type.map { Self.isMember(line, of: $0.kind, indentation: $0.indentation + 4) } ?? false
                if let (_, spaces, kind) = line.firstMatch(of: Self.openType)?.output {
                    type = (kind, spaces.count)
                } else if let outer = type, line == String(repeating: " ", count: outer.indentation) + "}" {
                    type = nil
                }
                guard isMember || Self.isPublic(line) else { continue }
                count += 1
                let before = lines[..<place].last { !$0.drop { $0 == " " }.hasPrefix("@") } ?? ""
                #expect(before.drop { $0 == " " }.hasPrefix("///"), "\(path):\(place + 1): \(line)")
            }
        }
        #expect(count > 20)
    }

    /// Whether a line declares a public symbol, those aside that a protocol of the standard library documents.
    private static func isPublic(_ line: Substring) -> Bool {
        guard line.contains(#/^ *(@[^ ]+ )*public /#) else { return false }
        return !line.contains(
            #/func (==|<|hash\(into)|var (description|debugDescription): String|init\([a-z]+Literal/#)
    }

    private static var openType: Regex<(Substring, Substring, Substring)> {
        #/^( *)public (?:indirect )?(enum|protocol) .*\{$/#
    }

    /// Whether a line declares a case of an enum, or a requirement of a protocol.
    private static func isMember(_ line: Substring, of kind: Substring, indentation: Int) -> Bool {
        guard line.prefix(while: { $0 == " " }).count == indentation else { return false }
        return kind == "enum"
            ? line.contains(#/^ *(indirect )?case /#)
            : line.contains(#/^ *((static|mutating) )*(func|var|init|subscript|associatedtype)\b/#)
    }

    @Test("no comment is longer than 120 columns, but for addresses; in C, no line is")
    func columns() throws {
        var count = 0
        for ending in [".swift", ".c", ".h", ".cpp", ".hpp"] {
            for path in try Self.files(below: "Sources", ending: ending) {
                for (place, line) in try Self.lines(path).enumerated() where line.count > 120 {
                    // The formatter looks after the code in Swift. Neither breaks a text in quotation marks.
                    let isComment = line.drop { $0 == " " }.hasPrefix("//")
                    #expect(ending == ".swift" && !isComment || line.contains("://"), "\(path):\(place + 1)")
                }
                count += 1
            }
        }
        #expect(count > 200)
    }

    @Test("whatever the compiler does not check for data races says why it is safe")
    func uncheckedSendables() throws {
        var count = 0
        for path in try Self.files(below: "Sources", ending: ".swift") {
            let lines = try Self.lines(path)
            for (place, line) in lines.enumerated() where !line.contains("//") {
                if line.contains("@unchecked Sendable") {
                    count += 1
                    let paragraph = lines[..<place].reversed().prefix { !$0.isEmpty }
                    #expect(paragraph.contains { $0.contains("`@unchecked Sendable`") }, "\(path):\(place + 1)")
                } else if line.contains("nonisolated(unsafe)") {
                    count += 1
                    // One comment may be about several lines.
                    let before = lines[..<place].last { !$0.contains("nonisolated(unsafe)") } ?? ""
                    #expect(before.contains("//"), "\(path):\(place + 1)")
                }
            }
        }
        #expect(count > 5)
    }

    @Test("what a session can do, and what all of them can, is in one folder each")
    func sessionFolders() throws {
        for path in try Self.files(below: "Sources/Sessions", ending: ".swift") {
            for type in ["Session", "Sessions"] where try Self.lines(path).contains("extension \(type) {") {
                #expect(path.hasPrefix("Sources/Sessions/\(type)/"), "\(path) extends \(type)")
            }
        }
    }

    // MARK: Documents

    private static func documents() throws -> [String] {
        try files(below: "", ending: ".md").filter { !$0.hasPrefix("Tests/StorageTests/Fixtures") }
    }

    @Test("links between documents lead to files and headings that exist")
    func links() throws {
        var count = 0
        for document in try Self.documents() {
            let folder = Self.root.appending(path: document).deletingLastPathComponent()
            for match in try ShippedFiles.text(document).matches(of: #/\]\(([^)\s]+)\)/#) {
                let link = match.output.1
                guard !link.contains("://") else { continue }
                count += 1
                let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let target =
                    parts[0].isEmpty
                    ? Self.root.appending(path: document)
                    : folder.appending(path: String(parts[0])).standardizedFileURL
                let path = target.path(percentEncoded: false)
                #expect(FileManager.default.fileExists(atPath: path), "\(document): \(link)")
                guard parts.count > 1, let text = try? String(contentsOf: target, encoding: .utf8) else { continue }
                let headings = text.matches(of: #/(?m)^#+ (.+)$/#).map { Self.anchor($0.output.1) }
                #expect(headings.contains(String(parts[1])), "\(document): \(link)")
            }
        }
        #expect(count > 50)
    }

    /// As GitHub makes it of a heading.
    private static func anchor(_ heading: Substring) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }.replacing(" ", with: "-")
    }

    @Test("ARCHITECTURE.md names files and folders that exist; README.md fits into 6 KB")
    func architecture() throws {
        let text = try ShippedFiles.text("ARCHITECTURE.md")
        #expect(try ShippedFiles.text("README.md").utf8.count <= 6 * 1024)
        let paths = text.matches(of: #/`((?:Sources|Tests|config|docs|scripts)/[^`\s]*)`/#).map { String($0.output.1) }
        #expect(paths.count > 10)
        for path in paths {
            let exists = FileManager.default.fileExists(atPath: Self.root.appending(path: path).path)
            #expect(exists, "\(path)")
        }
    }

    @Test("docs/README.md lists every page")
    func contents() throws {
        let list = try ShippedFiles.text("docs/README.md")
        let pages = try FileManager.default.contentsOfDirectory(atPath: "\(ShippedFiles.directory)/docs")
        for page in pages where page.hasSuffix(".md") && page != "README.md" {
            #expect(list.contains("](\(page))"), "\(page)")
        }
    }

    @Test("the list of decisions has each file of its folder, and each has its four parts")
    func decisions() throws {
        let list = try ShippedFiles.text("docs/decisions/README.md")
        let files = try Self.files(below: "docs/decisions", ending: ".md").filter { !$0.hasSuffix("README.md") }
        #expect(files.count > 10)
        for file in files {
            #expect(list.contains("](\(file.split(separator: "/").last ?? ""))"), "\(file)")
            let text = try ShippedFiles.text(file)
            for part in ["Context", "Choice", "Rejected", "Consequence"] {
                #expect(text.contains("\n**\(part).**"), "\(file): \(part)")
            }
        }
    }
}
