import JSONDocument
import ServiceLocator

/// A quotation that a client shows.
public final class QuoteService: SessionService {
    public struct State: Codable, Sendable {
        // Notes on the Analytical Engine, note G, 1843.
        public var text = "The Analytical Engine has no pretensions whatever to originate any thing."
        public var author = "Ada Lovelace"
    }

    public static let name = "quote"
    public static let initial = State()
    public static let schema: JSONDocument? = [
        "type": "object",
        "additionalProperties": false,
        "required": ["text", "author"],
        "properties": [
            "text": ["type": "string", "maxLength": 2_000],
            "author": ["type": "string", "maxLength": 200],
        ],
    ]

    public var state: State

    public init(state: State, services: borrowing ServiceResolver) { self.state = state }
}
