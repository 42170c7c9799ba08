import Foundation

/// A refusal of the server (RFC 9457), or status 0 and the code `offline` when no answer came.
public struct Problem: Error, Sendable, Decodable, CustomStringConvertible {
    /// What is wrong with the input, and where.
    public struct Violation: Decodable, Sendable, Hashable {
        /// A JSON Pointer into what was sent.
        public let pointer: String
        /// For people.
        public let detail: String
    }

    /// The status of the answer; 0 when there was none.
    public let status: Int
    /// Stable, for programs: `precondition_failed`. `GET /problems/{code}` explains it.
    public let code: String?
    /// For people.
    public let detail: String
    /// For bad input, one entry for each mistake.
    public let violations: [Violation]
    /// With `command_refused`: the service's word for it, for programs.
    public let reason: String?
    /// What the server's log calls the request.
    public let requestID: String?

    private enum CodingKeys: String, CodingKey {
        case status, code, detail, title, reason
        case violations = "errors"
        case requestID = "request_id"
    }

    init(status: Int, code: String?, detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
        violations = []
        reason = nil
        requestID = nil
    }

    /// Reads a problem document.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        status = try members.decode(Int.self, forKey: .status)
        code = try members.decodeIfPresent(String.self, forKey: .code)
        let title = try members.decodeIfPresent(String.self, forKey: .title)
        detail = try members.decodeIfPresent(String.self, forKey: .detail) ?? title ?? ""
        violations = try members.decodeIfPresent([Violation].self, forKey: .violations) ?? []
        reason = try members.decodeIfPresent(String.self, forKey: .reason)
        requestID = try members.decodeIfPresent(String.self, forKey: .requestID)
    }

    static func offline(_ cause: any Error) -> Problem {
        Problem(status: 0, code: "offline", detail: "No answer: \(cause.localizedDescription)")
    }

    static let ended = Problem(status: 401, code: "unauthenticated", detail: "The session has ended.")

    /// Whether the same request may succeed a little later.
    var isTransient: Bool { status == 0 || status == 429 || status >= 500 }

    public var description: String {
        let places = violations.map { "; \($0.pointer): \($0.detail)" }.joined()
        return "\(status) \(code ?? "") \(detail)\(places)"
    }
}
