/// How a line looks: JSON for programs, text for people.
///
/// Both are made from one JSON object that has `level` and `event` first. The time is put in front when the line
/// joins the buffer.
enum LogForm: Sendable {
    case json, text

    /// JSON text, or a part of it, in which nothing is left that a reader could act on.
    static func visible(_ json: some Collection<UInt8>) -> [UInt8] {
        var visible: [UInt8] = []
        VisibleText.append(json, to: &visible)
        return visible
    }

    /// What follows the time, line break included.
    /// - Parameter object: JSON text with `level` and `event` as its first members.
    func body(of object: some Collection<UInt8>) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(object.count + 16)
        switch self {
        case .json: VisibleText.append(object.dropFirst(), to: &body)
        case .text:
            TextLine.append(Self.visible(object), to: &body)
        }
        body.append(UInt8(ascii: "\n"))
        return body
    }
}
