/// One thing that is wrong with a flow file, or questionable.
public struct FlowProblem: Sendable, Equatable {
    /// The name of the file.
    public let file: String
    /// JSON Pointer to the place in the file.
    public let pointer: String
    /// The kind of the problem, stable for programs.
    public let code: FlowProblemCode
    /// A sentence without its full stop: what is wrong, what is allowed.
    public let message: String
    /// The name that was probably meant.
    public let guess: String?

    /// The code's, unless the place makes it less.
    public let severity: Severity

    init(
        file: String, pointer: String, code: FlowProblemCode, message: String, guess: String? = nil,
        severity: Severity? = nil
    ) {
        self.file = file
        self.pointer = pointer
        self.code = code
        self.message = message
        self.guess = guess
        self.severity = severity ?? code.severity
    }

    /// Whether the problem keeps the flows from being used.
    public enum Severity: String, Sendable {
        /// Stops the start.
        case error
        case warning
    }
}

extension FlowProblem: CustomStringConvertible {
    /// One line: `checkout.json: error: /states/pay/on/next/target unknown_state: …; did you mean "payment"?`
    public var description: String {
        let guess = guess.map { "; did you mean \"\($0)\"?" } ?? ""
        let place = pointer.isEmpty ? "" : "\(pointer) "
        return "\(file): \(severity.rawValue): \(place)\(code.rawValue): \(message)\(guess)"
    }
}
