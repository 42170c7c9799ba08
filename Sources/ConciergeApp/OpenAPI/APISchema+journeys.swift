import JSONDocument

// Flows and journeys: API, section 5.
extension APISchema {
    private static let textType: JSONDocument = ["type": "string"]
    private static let nameType: JSONDocument = ["type": "string", "minLength": 1]
    private static let nullableText: JSONDocument = ["type": ["string", "null"]]
    private static let versionType: JSONDocument = ["type": "integer", "minimum": 1]
    private static let input: JSONDocument = [
        "description": "What the flow's `input` schema requires; default `{}`."
    ]
    private static let presentation: JSONDocument = ["type": "string", "enum": ["root", "push", "modal"]]
    private static let place = object(["pointer": ["type": "string", "format": "json-pointer"], "detail": textType])

    private static let flowHeading: [(name: String, value: JSONDocument)] = [
        (name: "id", value: textType), (name: "version", value: versionType),
        (name: "versions", value: ["type": "array", "items": versionType, "description": "Those that are loaded."]),
        (name: "description", value: nullableText),
    ]

    static let flowListingDocument: JSONDocument = [
        "type": "object", "properties": JSONDocument(members: flowHeading),
        "required": ["id", "version", "versions", "description"],
    ]

    static let flowDocument: JSONDocument = [
        "type": "object",
        "properties": JSONDocument(
            members: flowHeading + [
                (
                    name: "screens",
                    value: [
                        "type": "array",
                        "items": object([
                            "id": textType, "name": textType, "title": nullableText,
                            "events": ["type": "array", "items": textType],
                        ]),
                    ]
                ),
                (
                    name: "input",
                    value: ["description": "The JSON Schema (draft 7) of what it is started with; null: anything."]
                ),
                (
                    name: "definition",
                    value: [
                        "type": "object",
                        "description":
                            "The flow as it was loaded. Who has no token sees it only if `flows_public` allows that.",
                    ]
                ),
            ]),
        "required": ["id", "version", "versions", "description", "screens"],
    ]

    static let newJourneyDocument = example(
        ["flow": "wizard", "input": [:]],
        of: closedObject(
            [
                "flow": nameType, "version": versionType, "input": input,
                "at": [
                    "type": "string", "minLength": 1,
                    "description": "A screen to begin at; the stack has the screens that lead there.",
                ],
                "resume": [
                    "type": "boolean",
                    "description": "Whether the running journey of the flow, if there is one, is the answer.",
                ],
            ], required: ["flow"]))

    static let journeyRestartDocument = example(
        ["flow": "wizard"],
        of: closedObject(
            [
                "flow": ["type": "string", "minLength": 1, "description": "Default: the flow that it ran."],
                "input": [
                    "description":
                        "As at the start; if both are left out, a running journey keeps its input."
                ],
            ],
            required: []))

    static let journeyEventDocument = example(
        ["event": "sign_in", "data": ["name": "Ada"]],
        of: closedObject(
            [
                "event": ["type": "string", "minLength": 1, "description": "One of the journey's `events`."],
                "data": ["description": "The data that the screen accepts with the event."],
                "step": [
                    "type": "integer", "minimum": 1, "description": "The step at which the journey must stand.",
                ],
            ], required: ["event"]))

    static let journeyNavigationDocument = example(
        ["to": "page3"],
        of: closedObject(["to": ["type": "string", "minLength": 1, "description": "The id of a screen."]]))

    static let journeyCoordinatorDocument = object([
        "flow": textType, "state": textType,
        "children": ["type": "array", "items": APISchema.journeyCoordinator.reference],
    ])

    private static let journeyMembers: KeyValuePairs<String, JSONDocument> = [
        "id": textType, "flow": textType, "version": versionType,
        "status": ["type": "string", "enum": ["active", "finished", "expired", "stuck"]],
        "step": ["type": "integer", "minimum": 1, "description": "Only grows."],
        "screen": [
            "oneOf": [
                object(
                    [
                        "id": textType, "name": ["type": "string", "description": "What to draw."],
                        "title": nullableText, "presentation": presentation,
                        "status": ["const": "busy", "description": "The journey waits for a task: look again later."],
                        "data": ["type": "object", "description": "The states of services that the screen shows."],
                        "params": [
                            "type": "object", "description": "What the transition gave to the screen, if anything.",
                        ],
                    ], required: ["id", "name", "title", "presentation", "data"]),
                ["type": "null"],
            ]
        ],
        "events": [
            "type": "array",
            "items": object(
                [
                    "name": textType, "enabled": ["type": "boolean"],
                    "why": ["type": "array", "items": place, "description": "The conditions that do not hold."],
                    "schema": ["description": "With `include=schema`: the JSON Schema (draft 7) of the event's data."],
                ], required: ["name", "enabled"]),
        ],
        "can_go_back": ["type": "boolean"],
        "stack": [
            "type": "array", "description": "From the bottom up.",
            "items": object(["flow": textType, "screen": textType, "presentation": presentation]),
        ],
        "coordinators": ["oneOf": [APISchema.journeyCoordinator.reference, ["type": "null"]]],
        "outcome": nullableText, "output": ["description": "What the flow returned when it finished."],
        "started_at": time, "expires_at": ["type": ["string", "null"], "format": "date-time"],
        "problem": ["type": "object", "description": "Why a journey that is `stuck` cannot go on."],
    ]

    static let journeyDocument = example(
        journeyExample,
        of: object(journeyMembers, required: journeyMembers.map(\.key).filter { $0 != "problem" }))

    static let navigatedJourneyDocument: JSONDocument = [
        "allOf": [
            APISchema.journey.reference,
            object(["path": ["type": "array", "items": textType, "description": "The screens on the way, in order."]]),
        ]
    ]

    static let journeyCensusDocument = object([
        "items": [
            "type": "array",
            "items": object([
                "flow": textType, "version": versionType, "state": textType,
                "count": [
                    "type": "integer", "minimum": 0,
                    "description": "Journeys that show the screen.",
                ],
                "in_use": [
                    "type": "integer", "minimum": 0,
                    "description": "Journeys that have it on their stack, or run the child flow that the state is.",
                ],
            ]),
        ]
    ])

    static let flowTrialDocument = closedObject(
        [
            "flows": ["type": "array", "items": ["type": "object"], "description": "The flows, as in their files."],
            "services": [
                "type": "array",
                "items": closedObject(
                    [
                        "name": ["type": "string", "pattern": "^[a-z0-9-]{1,64}$"],
                        "schema": ["type": ["object", "boolean"]], "default": [:],
                    ], required: ["name"]),
                "description": "The services that are not built in; without it, those of the server.",
            ],
        ], required: ["flows"])

    static let journeyTrialDocument = object([
        "running": natural, "staying": natural,
        "lost": [
            "type": "array",
            "items": object(
                [
                    "flow": textType, "version": versionType, "count": natural,
                    "detail": [
                        "type": "string",
                        "description": "Why the journeys cannot move on; missing when the version is.",
                    ],
                ], required: ["flow", "version", "count"]),
        ],
        "misfits": [
            "type": "array", "description": "Journeys whose data does not fit the schema of a service.",
            "items": object([
                "flow": textType, "version": versionType, "service": textType, "pointer": textType,
                "detail": textType, "count": natural,
            ]),
        ],
    ])

    private static let journeyExample: JSONDocument = [
        "id": "main", "flow": "wizard", "version": 1, "status": "active", "step": 7,
        "screen": [
            "id": "page", "name": "Page", "title": nil, "presentation": "push", "data": ["profile": ["name": "Ada"]],
        ],
        "events": [
            ["name": "next", "enabled": true],
            [
                "name": "finish", "enabled": false,
                "why": [["pointer": "/profile/name", "detail": "must have at least 1 character"]],
            ],
        ],
        "can_go_back": true,
        "stack": [
            ["flow": "wizard", "screen": "start", "presentation": "root"],
            ["flow": "wizard", "screen": "page", "presentation": "push"],
        ],
        "coordinators": ["flow": "wizard", "state": "page", "children": []],
        "outcome": nil, "output": nil, "started_at": "2026-01-31T09:05:07.250Z",
        "expires_at": "2026-01-31T21:05:07.250Z",
    ]

    private static func example(_ example: JSONDocument, of schema: JSONDocument) -> JSONDocument {
        JSONDocument(members: (schema.members ?? []) + [(name: "examples", value: [example])])
    }
}
