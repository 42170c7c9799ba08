import JSONDocument

extension APISchema {
    static let importReportDocument = object([
        "read": natural, "imported": natural,
        "replaced": ["type": "integer", "minimum": 0, "description": "Of those imported."],
        "skipped": natural,
        "expired": ["type": "integer", "minimum": 0, "description": "Of those skipped."],
        "refused": natural,
        "errors": [
            "type": "array",
            "description": "What was refused and why, the first of it; what was missing when it was exported.",
            "items": object(
                [
                    "line": ["type": "integer", "minimum": 1],
                    "id": ["type": "string", "description": "The session's, where it is known."],
                    "pointer": ["type": "string", "description": "Into the line (RFC 6901)."],
                    "detail": ["type": "string"],
                ], required: ["line", "pointer", "detail"]),
        ],
        "more_errors": ["type": "integer", "minimum": 0, "description": "How many are not among `errors`."],
        "complete": [
            "type": "boolean", "description": "Whether the export arrived as it was written, to its end.",
        ],
        "last": [
            "type": ["string", "null"],
            "description": "The `cursor` of the last session up to which everything was dealt with.",
        ],
    ])
}
