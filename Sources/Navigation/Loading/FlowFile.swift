/// The text of a flow, and where it came from.
public struct FlowFile: Sendable {
    /// As problems name it.
    public let name: String
    /// The content: JSON, comments allowed.
    public let bytes: [UInt8]

    /// A file by its name, for messages, and its content.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}
