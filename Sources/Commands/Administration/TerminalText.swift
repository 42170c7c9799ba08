import JSONDocument

/// A part of a response that is shown, as in `journey=session/journey`: a title, and members of an item by their paths.
struct Column: Sendable, ExpressibleByStringLiteral {
    let title: String
    fileprivate let paths: [[String]]
    /// Those of the items of a list inside.
    fileprivate var columns: [Column] = []

    init(stringLiteral text: String) {
        let parts = text.split(separator: "=", maxSplits: 1)
        paths = parts[parts.count - 1].split(separator: "/").map { $0.split(separator: ".").map(String.init) }
        title = parts[0].split(separator: "_").filter { $0 != "at" }.joined(separator: " ")
    }

    static func rows(_ path: String, _ columns: [Column]) -> Column {
        var column = Column(stringLiteral: path)
        column.columns = columns
        return column
    }

    /// The values at its paths, without those that are missing, null or empty.
    fileprivate func values(of item: JSONDocument) -> [JSONDocument] {
        paths.compactMap { path in
            let value = path.reduce(Optional(item)) { $0?[member: $1] }
            let isEmpty = value?.count == 0 && (value?.elements != nil || value?.members != nil)
            return value?.isNull == false && !isEmpty ? value : nil
        }
    }
}

/// Responses as people read them on a terminal. No text of a response controls the terminal.
struct TerminalText {
    let now: Timestamp
    let hasColors: Bool

    func table(_ columns: [Column], _ items: [JSONDocument], indent: String = "") -> String {
        let head = columns.map { (text: $0.title.uppercased(), color: Color.bold as Color?) }
        let rows = items.map { item in
            columns.map { column in
                let text = cell(column.values(of: item))
                return (text: text, color: Color.ofState[text])
            }
        }
        let widths = columns.indices.map { place in ([head] + rows).map { $0[place].text.count }.max() ?? 0 }
        return ([head] + rows).map { row in
            let cells = row.enumerated().map { place, cell in
                let isLast = place == row.count - 1
                let space = isLast ? "" : String(repeating: " ", count: widths[place] - cell.text.count + 2)
                return painted(cell.text, cell.color) + space
            }
            return indent + cells.joined() + "\n"
        }.joined()
    }

    /// What is missing or null is left out.
    func record(_ columns: [Column], _ item: JSONDocument) -> String {
        let width = columns.map(\.title.count).max() ?? 0
        return columns.map { column in
            let values = column.values(of: item)
            let title = column.title + String(repeating: " ", count: width - column.title.count + 2)
            guard column.columns.isEmpty else {
                let rows = values.first?.elements ?? []
                return rows.isEmpty
                    ? "" : painted(column.title, .bold) + "\n" + table(column.columns, rows, indent: "  ")
            }
            guard !values.isEmpty else { return "" }
            let text = cell(values)
            let moment = values[0].string.flatMap(Timestamp.init).map { " (\($0))" } ?? ""
            return painted(title, .bold) + painted(text, Color.ofState[text]) + moment + "\n"
        }.joined()
    }

    /// JSON on one line.
    static func line(_ document: JSONDocument) -> String {
        // What JSON leaves as it is.
        "\(document)".unicodeScalars.map {
            (0x7F...0x9F).contains($0.value) ? "\\u00" + String($0.value, radix: 16) : String($0)
        }.joined() + "\n"
    }

    /// JSON on several lines.
    static func indented(_ document: JSONDocument, _ indent: String = "") -> String {
        let inner = indent + "  "
        if let members = document.members, !members.isEmpty {
            let lines = members.map { "\(inner)\($0.name.inJSON): \(indented($0.value, inner))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
        }
        if let elements = document.elements, !elements.isEmpty {
            return "[\n\(elements.map { inner + indented($0, inner) }.joined(separator: ",\n"))\n\(indent)]"
        }
        return document.string?.inJSON ?? "\(document)"
    }

    private func cell(_ values: [JSONDocument]) -> String {
        guard !values.isEmpty else { return "-" }
        return values.map { value in
            value.string.flatMap(Timestamp.init).map(relative) ?? Self.plain(value).printable
        }.joined(separator: "/")
    }

    /// A value without a line for each part.
    static func plain(_ value: JSONDocument) -> String {
        if let text = value.string { return text }
        if let detail = value[member: "detail"]?.string, let pointer = value[member: "pointer"]?.string {
            return pointer.isEmpty ? detail : "\(pointer) \(detail)"
        }
        return value.elements.map { $0.map(plain).joined(separator: ", ") } ?? "\(value)"
    }

    /// "3 min ago", "in 2 h"
    private func relative(_ time: Timestamp) -> String {
        let difference = time.millisecondsSince1970 - now.millisecondsSince1970
        let seconds = abs(difference) / 1_000
        let text =
            switch seconds {
            case ..<60: "\(seconds) s"
            case ..<3_600: "\(seconds / 60) min"
            case ..<172_800: "\(seconds / 3_600) h"
            default: "\(seconds / 86_400) d"
            }
        return difference < 0 ? "\(text) ago" : "in \(text)"
    }

    /// A part of SGR, ECMA-48.
    private enum Color: String {
        case bold = "1"
        case red = "31"
        case yellow = "33"

        static let ofState: [String: Color] = ["held": .red, "stuck": .red, "busy": .yellow, "claimed": .yellow]
    }

    private func painted(_ text: String, _ color: Color?) -> String {
        guard hasColors, let color else { return text }
        return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
    }
}

extension String {
    /// As it is, or as a JSON string where a character of it could break a line or control a terminal.
    var printable: String {
        let isPlain = unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        return isPlain ? self : inJSON
    }
}
