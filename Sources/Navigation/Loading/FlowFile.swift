/// The text of a flow, and where it came from.
public struct FlowFile: Sendable {
    /// As problems name it.
    public let name: String
    public let bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}
