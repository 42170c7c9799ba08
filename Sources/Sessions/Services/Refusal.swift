/// Thrown by a command to say no: nothing changes, and the client gets 409 `command_refused` with all of this.
public struct Refusal: Error, Sendable, Equatable {
    /// For programs: stable, such as `unknown_item`.
    public let code: String
    /// The place in the input that the refusal is about (RFC 6901); empty for the whole.
    public let pointer: String
    /// A sentence for people, safe to show to the client.
    public let detail: String

    /// - Parameters:
    ///   - code: for programs: stable, such as `unknown_item`.
    ///   - pointer: the place in the input that the refusal is about.
    ///   - detail: a sentence for people, safe to show to the client.
    public init(_ code: String, at pointer: String = "", _ detail: String) {
        self.code = code
        self.pointer = pointer
        self.detail = detail
    }
}
