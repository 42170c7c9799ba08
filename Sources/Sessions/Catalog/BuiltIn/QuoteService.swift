import JSONDocument
import ServiceLocator

/// A quotation that a client shows.
public final class QuoteService: SessionService {
    /// What is kept.
    public struct State: Codable, Sendable {
        /// The words. The default is from Notes on the Analytical Engine, note G, 1843.
        public var text = "The Analytical Engine has no pretensions whatever to originate any thing."
        /// Who said it.
        public var author = "Ada Lovelace"
    }

    /// The name in paths.
    public static let name = "quote"
    /// A quotation, so that there is something to show.
    public static let initial = State()
    /// JSON Schema, draft 7.
    public static let schema: JSONDocument? = [
        "type": "object",
        "additionalProperties": false,
        "required": ["text", "author"],
        "properties": [
            "text": ["type": "string", "maxLength": 2_000],
            "author": ["type": "string", "maxLength": 200],
        ],
    ]

    /// The document.
    public var state: State

    /// Needs no other service.
    public init(state: State, services: borrowing ServiceResolver) { self.state = state }
}
