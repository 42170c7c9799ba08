import JSONDocument

/// What belongs to a run of a flow, and to whom the run belongs.
public struct FlowOwnership: Sendable {
    /// The services of which each coordinator of the flow has an instance of its own.
    public var services: [String] = []
    /// Whether an event must say what the sender saw: `"concurrency": "first_write"`.
    public var isFirstWrite = false
    /// Whether a journey of the flow goes on when its user signs out: `"bound_to": "session"`.
    public var isBoundToSession = false
    /// Whether a journey of the flow may move to another session: `"portable": true`.
    public var isPortable = false

    enum Concurrency: String, CaseIterable {
        case lastWrite = "last_write"
        case firstWrite = "first_write"
    }

    enum Binding: String, CaseIterable {
        case user, session
    }

    /// Reads `owns`, `concurrency`, `bound_to` and `portable` of a flow.
    init(reading node: FlowNode, by reader: inout FlowReader) {
        for (name, node) in reader.names(node["owns"], of: "a service")
        where reader.checkService(name, at: node.place, isWritten: true) {
            if services.contains(name) {
                reader.report(node.place, .badValue, "\(name) occurs twice")
            } else {
                services.append(name)
            }
        }
        isFirstWrite = reader.choice(node["concurrency"]) == Concurrency.firstWrite
        isBoundToSession = reader.choice(node["bound_to"]) == Binding.session
        isPortable = reader.bool(node["portable"]) ?? false
    }
}

/// The services that the file of a flow names, and the first parts of its pointers.
package struct FlowUses: Sendable {
    package let flow: String
    package private(set) var names: Set<String> = []

    /// The keys whose texts are names of services.
    private static let keys: Set<String> = ["data", "owns", "service", "clear", "remove"]
    /// The keys whose texts are for people. Paths stand in braces there.
    private static let words: Set<String> = ["title", "say", "description", "x-say", "labels"]

    /// The commands that its actions call: `cart/add`.
    package private(set) var calls: Set<String> = []

    package init(_ flow: FlowDefinition) { self.init(of: flow.document, named: flow.id) }

    /// - Parameter document: a flow, or a command of a service file.
    init(of document: JSONDocument, named name: String) {
        flow = name
        var rest = [(key: "", value: document, isForPeople: false)]
        while let (key, value, isForPeople) = rest.popLast() {
            if let text = value.string {
                if isForPeople {
                    for part in text.split(separator: "{").dropFirst(text.hasPrefix("{") ? 0 : 1) {
                        let path = part.prefix { $0 != "}" }
                        if let name = JSONPointer(parsing: String(path))?.tokens.first { names.insert(name) }
                    }
                } else if text.hasPrefix("/") {
                    names.insert(JSONPointer(parsing: text)?.tokens.first ?? text)
                } else if Self.keys.contains(key) {
                    names.insert(text)
                } else if key == "call", let service = text.split(separator: "/").first {
                    names.insert(String(service))
                    calls.insert(text)
                }
            }
            // A path that is built begins with the name.
            if key == DataPath.pointerKey, let name = value.elements?.first?.string { names.insert(name) }
            rest += (value.elements ?? []).map { (key, $0, isForPeople) }
            rest += (value.members ?? []).map { ($0.name, $0.value, isForPeople || Self.words.contains($0.name)) }
        }
    }
}
