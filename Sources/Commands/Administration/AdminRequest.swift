import Configuration
import JSONDocument
import Sessions

/// The request that a command line for operators means.
struct AdminRequest {
    let method: String
    /// Without the arguments of a page.
    private(set) var path: String
    private(set) var fields: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    /// The values of arguments and flags as they were written.
    private let written: [String: String]

    /// - Parameters:
    ///   - words: the action and its arguments.
    ///   - flag: the value of a flag; empty for one that takes none, nil for one that is missing.
    init(
        _ call: AdminCall, _ words: [String], _ files: FileReader, flag: (String) -> String?
    ) throws {
        method = call.method
        var written = Dictionary(uniqueKeysWithValues: zip(call.arguments, words.dropFirst()))
        for option in call.options { written[option.flag.name] = flag(option.flag.name) }
        self.written = written
        var values = written.mapValues(Self.escaped)
        values["SESSION/JOURNEY"] = written["SESSION/JOURNEY"]?.split(separator: "/").map(Self.escaped)
            .joined(separator: "/journeys/")
        values["--journey"] = values["--journey"].map { "/journeys/\($0)" } ?? ""
        // A task is found among those of its session.
        if let task = written["TASK"], case .itemOfList = call.shows {
            guard let id = TaskID(task) else { throw UsageError("\(task.quoted) is no id of a task") }
            values["SESSION"] = id.session.description
        }
        path = Self.filled(call.path, values)
        for option in call.options {
            guard let value = written[option.flag.name] else { continue }
            switch option.use {
            case .own: continue
            case .query(let name): add(name, option.flag.value == nil ? "true" : value)
            case .field(let name): fields.append((name, value))
            }
        }
        switch call.body {
        case .none: return
        case .argument(let name): body = try Self.document(written[name] ?? "", named: name, files).serialized()
        case .members(let members):
            let given = try members.compactMap { member -> (String, JSONDocument)? in
                let isConstant = !call.arguments.contains(member.source) && !member.source.hasPrefix("--")
                guard let text = isConstant ? member.source : written[member.source] else { return nil }
                let isJSON = member.isJSON
                return (member.name, isJSON ? try Self.document(text, named: member.source, files) : JSONDocument(text))
            }
            body = JSONDocument(members: given).serialized()
        }
    }

    mutating func add(_ name: String, _ value: String) {
        path += (path.contains("?") ? "&" : "?") + "\(name)=\(Self.escaped(value))"
    }

    /// A sentence with the values as they were written.
    func sentence(_ template: String) -> String { Self.filled(template, written.mapValues(\.printable)) }

    private static func filled(_ template: String, _ values: [String: String]) -> String {
        var (result, rest) = ("", template[...])
        while let open = rest.firstIndex(of: "{"), let close = rest.firstIndex(of: "}") {
            result += rest[..<open] + (values[String(rest[rest.index(after: open)..<close])] ?? "")
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }

    /// A document, or that of the file whose path follows `@`.
    private static func document(_ text: String, named name: String, _ files: FileReader) throws -> JSONDocument {
        let bytes = text.hasPrefix("@") ? try files.read(String(text.dropFirst())) : Array(text.utf8)
        do {
            return try JSONDocument(parsing: bytes)
        } catch {
            throw UsageError("\(text.hasPrefix("@") ? String(text.dropFirst()) : name) is not JSON: \(error)")
        }
    }

    /// RFC 3986, section 2.3: everything but letters, digits and `-._~` is escaped.
    private static func escaped(_ text: some StringProtocol) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
