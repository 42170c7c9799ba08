import JSONDocument
import Navigation

/// The services that random flows know: those of the model, and notes.
struct FlagServices: ServiceDocuments {
    /// Those that were written.
    var state: [String: JSONDocument] = [:]

    private static let defaults: [String: JSONDocument] = [
        "d": ["a": true, "b": false], "k": ["c": true, "n": "?"], "log": ["notes": []],
    ]

    var flags: [String: [String: Bool]] {
        Dictionary(uniqueKeysWithValues: ModelFlow.services.keys.map { ($0, Self.flags(of: document(of: $0))) })
    }

    /// Whether the number is one counts as a flag. What is null is not there.
    static func flags(of document: JSONDocument?) -> [String: Bool] {
        Dictionary(
            uniqueKeysWithValues: (document?.members ?? []).filter { $0.value != .null }.map {
                ($0.name, $0.value.bool ?? ($0.value == 3.5))
            })
    }

    static func setting(_ flag: String, _ value: Bool, in document: JSONDocument?) -> JSONDocument? {
        document?.merging(JSONDocument(members: [(name: flag, value: JSONDocument(value))]))
    }

    var notes: [String] { (document(of: "log")?[member: "notes"]?.elements ?? []).compactMap(\.string) }

    mutating func forgetNotes() { state["log"] = nil }

    mutating func perform(_ changes: [ServiceChange]) {
        for change in changes {
            if case .written(let document) = change.effect {
                state[change.service] = document
            } else {
                state[change.service] = nil
            }
        }
    }

    func document(of service: String) -> JSONDocument? { state[service] ?? Self.defaults[service] }

    func defaultDocument(of service: String) -> JSONDocument? { Self.defaults[service] }

    func violations(of document: JSONDocument, in service: String) -> [JSONViolation] { [] }

    func call(
        _ command: String, of service: String, with input: JSONDocument?, now: Int64, work: inout Int,
        reading document: @escaping (String) -> JSONDocument?, isLive: @escaping (String) -> Bool?
    ) throws(CommandRefusal) -> CommandResult {
        guard let flag = input?[member: "flag"]?.string, let was = document(service)?[member: flag]?.bool,
            let state = Self.setting(flag, !was, in: document(service))
        else { throw CommandRefusal([]) }
        return CommandResult(
            output: JSONDocument(was), changes: [ServiceChange(service: service, effect: .written(state))])
    }
}
