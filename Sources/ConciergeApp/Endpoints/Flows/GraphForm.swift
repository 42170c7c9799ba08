/// How the graph of a flow can be had, the default first.
enum GraphForm: String, Sendable, CaseIterable {
    case mermaid = "text/vnd.mermaid"
    case graphviz = "text/vnd.graphviz"
    case svg = "image/svg+xml"

    init?(mediaType: String) { self.init(rawValue: mediaType) }

    var mediaType: String { rawValue }

    /// As the answer has it: text says how it is encoded.
    var contentType: String { self == .svg ? rawValue : "\(rawValue); charset=utf-8" }
}
