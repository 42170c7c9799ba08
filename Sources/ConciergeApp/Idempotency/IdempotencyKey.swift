import HTTPServer
import Sessions

/// The client's name for a request, which makes repeating the request safe.
///
/// The field's value is a string of RFC 9651, section 3.3.3, as in the IETF's draft on `Idempotency-Key`:
/// `"8e03978e-40d5-43dd-bc93-6894a57f9324"`. The same key without quotes, which many clients send, is equal. A key has
/// 1 to 255 visible ASCII characters.
package struct IdempotencyKey: Sendable, Equatable {
    /// Without the quotes and escapes.
    let bytes: [UInt8]

    /// Longer than any identifier needs, and quick to hash.
    static let maximumLength = 255

    /// The key of a request.
    /// - Throws: `HTTPError` 400 `invalid_idempotency_key` unless the request has exactly one well-formed field.
    package init(of request: HTTPRequest) throws(HTTPError) {
        guard case .one(let value) = request.fields.only(.idempotencyKey), let key = IdempotencyKey(value) else {
            throw HTTPError(
                .badRequest, code: "invalid_idempotency_key",
                detail: "Idempotency-Key must be sent once, with 1 to \(Self.maximumLength) visible ASCII characters.")
        }
        self = key
    }

    /// Reads a field's value, with or without quotes; `nil` when it is malformed.
    package init?(_ value: some BidirectionalCollection<UInt8>) {
        let blanks: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = value.firstIndex(where: { !blanks($0) }), let last = value.lastIndex(where: { !blanks($0) })
        else { return nil }
        let text = value[first...last]
        let content = text.first == Self.quote ? Self.unquoted(text) : Self.bare(text)
        guard let content, (1...Self.maximumLength).contains(content.count) else { return nil }
        bytes = content
    }

    private static func bare(_ text: some Collection<UInt8>) -> [UInt8]? {
        // A proxy joins two fields by a comma (RFC 9110, section 5.3).
        let isKey = text.allSatisfy { visible.contains($0) && $0 != quote && $0 != UInt8(ascii: ",") }
        return isKey ? Array(text) : nil
    }

    private static func unquoted(_ text: some Collection<UInt8>) -> [UInt8]? {
        var content: [UInt8] = []
        var rest = text.dropFirst()
        while let byte = rest.popFirst() {
            if byte == quote { return rest.isEmpty ? content : nil }
            guard visible.contains(byte) else { return nil }
            if byte == backslash {
                guard let escaped = rest.popFirst(), escaped == quote || escaped == backslash else { return nil }
                content.append(escaped)
            } else {
                content.append(byte)
            }
        }
        return nil
    }

    private static let visible = UInt8(0x21)...UInt8(0x7E)
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
}

extension HTTPFieldName {
    package static let idempotencyKey = HTTPFieldName("Idempotency-Key")
    package static let idempotencyReplayed = HTTPFieldName("Idempotency-Replayed")
}

/// Whose an idempotency key is, and where the response to its request is kept.
package struct KeyOwner: Sendable {
    package enum Place: Sendable {
        /// With the session that the request is about.
        case session(Session)
        /// With the session that the request makes.
        case newSession
        /// By itself.
        case none

        /// Whether it is the session that a path names.
        func isSession(named name: String) -> Bool {
            guard case .session(let session) = self else { return false }
            return name == "current" || name == session.id.description
        }
    }

    let scope: IdempotencyScope
    let place: Place
    /// The token that has shown whose it is; `nil` for a caller without one.
    let token: PresentedToken?

    package init(_ scope: IdempotencyScope, _ place: Place, _ token: PresentedToken? = nil) {
        self.scope = scope
        self.place = place
        self.token = token
    }

    /// A caller with the key of the admin listener, whose request is about that session, or none.
    static func administrator(_ session: Session?) -> KeyOwner {
        KeyOwner(.administrator(session?.id), session.map { .session($0) } ?? .none)
    }
}
