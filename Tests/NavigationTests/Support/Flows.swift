import JSONDocument

/// Flows for tests; the first two are those that the documentation begins with.
enum Flows {
    static let wizard: JSONDocument = [
        "id": "wizard", "version": 1, "description": "Sign in, three pages, finish", "initial": "start",
        "guards": [
            "named": [
                "service": "profile",
                "schema": ["required": ["name"], "properties": ["name": ["minLength": 1]]],
            ]
        ],
        "on": ["cancel": ["target": "cancelled"]],
        "timeout": ["idle": "30m", "total": "12h"],
        "states": [
            "start": [
                "screen": "Start", "title": "Who are you?", "data": ["profile"],
                "accepts": [
                    "sign_in": [
                        "type": "object", "required": ["name"],
                        "properties": ["name": ["type": "string", "maxLength": 200]],
                    ]
                ],
                "on": [
                    "sign_in": [
                        "target": "page1", "nav": "push",
                        "actions": [["op": "add", "path": "/profile/name", "value": ["$from": "/event/name"]]],
                    ]
                ],
            ],
            "page1": [
                "screen": "Page", "data": ["profile"], "requires": ["named"], "on": ["next": ["target": "page2"]],
            ],
            "page2": [
                "screen": "Page", "data": ["profile"], "requires": ["named"],
                "on": ["next": ["target": "page3"], "edit": ["target": "quote_editor", "nav": "present"]],
            ],
            "quote_editor": [
                "type": "flow", "flow": "edit-quote", "input": ["author": ["$from": "/profile/name"]],
                "on": ["done.saved": ["target": "page3"], "done.cancelled": .emptyObject],
            ],
            "page3": [
                "screen": "Page", "data": ["profile", "quote"], "requires": ["named"],
                "on": ["finish": ["target": "start", "nav": "set_root", "actions": [["remove": "profile"]]]],
            ],
            "cancelled": ["type": "final", "outcome": "cancelled"],
        ],
    ]

    static let editQuote: JSONDocument = [
        "id": "edit-quote", "version": 1, "initial": "show",
        "input": ["type": "object", "required": ["author"], "properties": ["author": ["type": "string"]]],
        "states": [
            "show": ["data": ["quote"], "on": ["edit": ["target": "edit"], "close": ["target": "cancelled"]]],
            "edit": [
                "data": ["quote"],
                "accepts": [
                    "save": ["type": "object", "required": ["text"], "properties": ["text": ["type": "string"]]]
                ],
                "on": [
                    "save": [
                        "target": "saved",
                        "actions": [
                            ["op": "replace", "path": "/quote/text", "value": ["$from": "/event/text"]],
                            ["op": "replace", "path": "/quote/author", "value": ["$from": "/input/author"]],
                        ],
                    ]
                ],
            ],
            "saved": ["type": "final", "outcome": "saved", "output": ["text": ["$from": "/quote/text"]]],
            "cancelled": ["type": "final", "outcome": "cancelled"],
        ],
    ]

    /// A flow of the given states that begins with `a`.
    static func make(
        _ states: JSONDocument, id: String = "test", version: Int = 1, adding members: JSONDocument = .emptyObject
    ) -> JSONDocument {
        let heading: JSONDocument = [
            "id": JSONDocument(id), "version": JSONDocument(version), "initial": "a", "states": states,
        ]
        return heading.merging(members)
    }

    /// An action that leaves a line in the service `log`.
    static func note(_ line: String) -> JSONDocument {
        ["op": "add", "path": "/log/lines/-", "value": JSONDocument(line)]
    }
}
