import JSONDocument

/// A place in the data of a step: a JSON Pointer whose first token names a document.
public struct DataPath: Sendable, Equatable {
    /// The document.
    public let root: Root
    /// The place in the document; of a built path, the part before the first computed token.
    public let pointer: JSONPointer
    /// The whole path as the file has it; of a built path, the part before the first computed token.
    public let text: String
    /// The tokens of a built path behind ``pointer``; empty for any other.
    package let built: [ValueTemplate]

    /// The documents that a path can begin with.
    public enum Root: Sendable, Equatable {
        /// The state of a service.
        case service(String)
        /// The data of the event.
        case event
        /// The input of the flow.
        case input
        /// The output of the child that has just ended.
        case output
        /// The output of the command that an action before this one has called.
        case result
        /// The `params` of the top frame.
        case frame
        /// The time of the step, in RFC 3339.
        case now
        /// The element that a list function, or `every` and `some`, looks at.
        case item
        /// The index of that element, from 0.
        case index
    }

    /// Nil when `text` is not a JSON Pointer, or is empty.
    public init?(_ text: String) { self.init(text, inList: false) }

    /// - Parameter inList: whether `/item` and `/index` are of a list's element; elsewhere these are names of services
    ///   like any other.
    init?(_ text: String, inList: Bool) {
        guard let whole = JSONPointer(parsing: text), let first = whole.tokens.first else { return nil }
        root =
            switch first {
            case "event": .event
            case "input": .input
            case "output": .output
            case "result": .result
            case "frame": .frame
            case "now": .now
            case "item" where inList: .item
            case "index" where inList: .index
            default: .service(first)
            }
        pointer = JSONPointer(Array(whole.tokens.dropFirst()))
        self.text = text
        built = []
    }

    private init(_ root: Root, _ pointer: JSONPointer, _ text: String, built: [ValueTemplate] = []) {
        self.root = root
        self.pointer = pointer
        self.text = text
        self.built = built
    }

    /// A path whose last tokens are computed.
    init(_ start: DataPath, built: [ValueTemplate]) {
        self.init(start.root, start.pointer, start.text, built: built)
    }

    /// The element that is looked at.
    static let item = DataPath(.item, .root, "/item")

    /// With tokens behind its end.
    func appending(_ tokens: [String]) -> DataPath {
        DataPath(root, JSONPointer(pointer.tokens + tokens), text + JSONPointer(tokens).description)
    }

    /// Whether one is the other, or a part of it.
    func overlaps(_ other: DataPath) -> Bool {
        root == other.root && zip(pointer.tokens, other.pointer.tokens).allSatisfy { $0 == $1 }
    }

    public static func == (one: DataPath, other: DataPath) -> Bool {
        one.text == other.text && one.built.isEmpty && other.built.isEmpty
    }

    /// The service that the path begins with; nil for the other documents.
    public var service: String? {
        if case .service(let name) = root { name } else { nil }
    }

    /// The key of a path that is built.
    static let pointerKey = "$pointer"

    /// Names that services cannot have, because they mean other documents in a path.
    public static let reservedNames = ["event", "input", "output", "result", "frame", "now"]

    /// The names that mean more inside of list functions.
    static let namesInList = ["item", "index"]
}
