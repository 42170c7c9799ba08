import JSONDocument
import ServiceLocator

/// A quotation that a client shows.
package final class QuoteService: DocumentBackedService {
    package static let key = ServiceKey("quote", of: QuoteService.self)

    package let state: ServiceState

    package init(state: ServiceState) { self.state = state }

    package var text: String {
        get { state[string: "text"] ?? "" }
        set { state["text"] = JSONDocument(newValue) }
    }

    package var author: String {
        get { state[string: "author"] ?? "" }
        set { state["author"] = JSONDocument(newValue) }
    }

    static let definition = ServiceDefinition(
        key, kind: "quote",
        schema: [
            "type": "object",
            "additionalProperties": false,
            "required": ["text", "author"],
            "properties": [
                "text": ["type": "string", "maxLength": 2_000],
                "author": ["type": "string", "maxLength": 200],
            ],
        ],
        // Notes on the Analytical Engine, note G, 1843.
        default: [
            "text": "The Analytical Engine has no pretensions whatever to originate any thing.",
            "author": "Ada Lovelace",
        ])
}
