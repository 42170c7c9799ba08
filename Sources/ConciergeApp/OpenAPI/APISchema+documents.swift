import JSONDocument
import Sessions

extension APISchema {
    /// JSON Schema, draft 2020-12, which is what OpenAPI 3.1 takes.
    var document: JSONDocument {
        switch self {
        case .session: Self.sessionDocument
        case .sessionList: Self.list(of: APISchema.session.reference)
        case .newSession:
            Self.object(
                [
                    "labels": Self.labels,
                    "mode": ["type": "string", "enum": ["bearer", "cookie"], "default": "bearer"],
                ], required: [])
        case .createdSession:
            // In cookie mode the token is in Set-Cookie only.
            Self.object(["session": APISchema.session.reference, "token": Self.token], required: ["session"])
        case .sessionPatch:
            Self.object(
                [
                    "labels": [
                        "type": ["object", "null"], "additionalProperties": ["type": ["string", "null"]],
                        "description": "A merge patch: null removes a label, or all of them.",
                    ]
                ], required: [])
        case .newToken: Self.object(["token": Self.token], required: [])
        case .count: Self.object(["count": Self.natural])
        case .signIn:
            Self.object(
                ["user_id": ["type": "string", "minLength": 1, "maxLength": 256], "claims": ["type": "object"]],
                required: ["user_id"])
        case .signedIn: Self.object(["session": APISchema.session.reference, "token": Self.token])
        case .serviceListing: Self.serviceListingDocument
        case .serviceList: Self.list(of: APISchema.serviceListing.reference)
        case .serviceState:
            [
                "description":
                    "What the service's schema allows: one of those built in, or what the operator declared.",
                "anyOf": [
                    APISchema.profile.reference, APISchema.quote.reference, APISchema.user.reference,
                    ["title": "The state of a document service"],
                ],
            ]
        case .profile: Self.state(of: "profile")
        case .quote: Self.state(of: "quote")
        case .user: Self.state(of: "user")
        case .mergePatch:
            ["description": "RFC 7396: what stands in it replaces, null removes.", "type": "object"]
        case .jsonPatch: Self.jsonPatchDocument
        case .transaction: Self.transactionDocument
        case .transactionResults:
            Self.object([
                "results": [
                    "type": "array",
                    "items": Self.object(["service": ["type": "string"], "etag": Self.etag]),
                ]
            ])
        case .flowListing: Self.flowListingDocument
        case .flowList: Self.list(of: APISchema.flowListing.reference)
        case .flow: Self.flowDocument
        case .newJourney: Self.newJourneyDocument
        case .journeyRestart: Self.journeyRestartDocument
        case .journeyEvent: Self.journeyEventDocument
        case .journeyNavigation: Self.journeyNavigationDocument
        case .journey: Self.journeyDocument
        case .journeyCoordinator: Self.journeyCoordinatorDocument
        case .journeyList: Self.list(of: APISchema.journey.reference)
        case .navigatedJourney: Self.navigatedJourneyDocument
        case .journeyCensus: Self.journeyCensusDocument
        case .problem: Self.problemDocument
        case .problemExplanation:
            Self.object([
                "type": ["type": "string"], "code": ["type": "string"], "status": ["type": "integer"],
                "title": ["type": "string"], "explanation": ["type": "string"],
            ])
        case .alive: Self.object(["status": ["const": "alive"]])
        case .readiness: Self.readinessDocument
        case .version:
            Self.object([
                "name": ["type": "string"], "version": ["type": "string"], "libmicrohttpd": ["type": "string"],
            ])
        case .serviceKinds: Self.serviceKindsDocument
        case .spaceGivenBack: Self.spaceGivenBackDocument
        case .statistics: Self.statisticsDocument
        case .exportStart: Self.object(["after": ["type": ["string", "null"]]], required: [])
        case .importReport: Self.importReportDocument
        case .anyObject: ["type": "object"]
        case .text: ["type": "string"]
        }
    }

    /// An object of these members; all of them required when nothing else is said.
    static func object(
        _ properties: KeyValuePairs<String, JSONDocument>, required: [String]? = nil
    ) -> JSONDocument {
        let names = required ?? properties.map(\.key)
        return [
            "type": "object",
            "properties": JSONDocument(members: properties.map { (name: $0.key, value: $0.value) }),
            "required": JSONDocument(names.map { JSONDocument($0) }),
        ]
    }

    private static func list(of item: JSONDocument) -> JSONDocument {
        object(
            [
                "items": ["type": "array", "items": item],
                "next": ["type": "string", "description": "The cursor of the next page, if there is one."],
            ],
            required: ["items"])
    }

    static let natural: JSONDocument = ["type": "integer", "minimum": 0]
    static let time: JSONDocument = [
        "type": "string", "format": "date-time", "description": "UTC, with milliseconds.",
    ]
    private static let etag: JSONDocument = ["type": "string", "pattern": "^\"[0-9]+\"$", "examples": ["\"7\""]]
    private static let token: JSONDocument = [
        "type": "string", "pattern": "^cg_", "description": "Shown once: the server keeps a digest of it only.",
    ]
    private static let labels: JSONDocument = [
        "type": "object", "additionalProperties": ["type": "string"], "maxProperties": 32,
    ]

    private static let sessionDocument = object([
        "id": ["type": "string", "pattern": "^ses_", "description": "Not secret: it opens nothing by itself."],
        "created_at": time, "last_used_at": time, "idle_expires_at": time, "expires_at": time,
        "user_id": ["type": ["string", "null"]], "labels": labels, "revision": natural,
    ])

    private static let serviceListingDocument = object(
        [
            "name": ["type": "string"], "kind": ["type": "string"],
            "status": ["type": "string", "enum": ["registered", "live"]], "etag": etag, "created_at": time,
            "updated_at": time, "expires_at": time,
        ], required: ["name", "kind", "status", "etag"])

    /// The schema that the service itself is checked by, with its default.
    private static func state(of name: String) -> JSONDocument {
        guard let service = ServiceDefinition.builtIn.first(where: { $0.name == name }) else {
            preconditionFailure("the description names a built-in service \(name) that is none")
        }
        var members = service.schema.members ?? []
        members.append((name: "default", value: service.default))
        if service.completesFromDefault {
            members.append(
                (
                    name: "description",
                    value:
                        "A write may leave members out, and a merge patch remove them: they are then those of `default`."
                ))
        }
        return JSONDocument(members: members)
    }

    private static let jsonPatchDocument: JSONDocument = [
        "description": "RFC 6902.", "type": "array",
        "items": [
            "type": "object", "required": ["op", "path"],
            "properties": [
                "op": ["type": "string", "enum": ["add", "remove", "replace", "move", "copy", "test"]],
                "path": ["type": "string"], "from": ["type": "string"], "value": [:],
            ],
        ],
    ]

    private static let transactionDocument = object([
        "operations": [
            "type": "array", "minItems": 1, "maxItems": JSONDocument(TransactionEndpoint.maximumOperations),
            "items": object(
                [
                    "op": ["type": "string", "enum": ["put", "patch", "clear", "remove"]],
                    "service": ["type": "string"],
                    "value": [
                        "description":
                            "For put the state; for patch a merge patch (an object) or a JSON Patch (a list)."
                    ],
                    "if_match": [
                        "type": "string", "description": "An entity tag, with its quotes or without, or `*`.",
                    ],
                ], required: ["op", "service"]),
        ]
    ])

    private static var problemDocument: JSONDocument {
        let codes = ProblemKind.all.map { JSONDocument($0.code) }
        let statuses = Set(ProblemKind.all.map { Int($0.status.code) }).sorted().map { JSONDocument($0) }
        let place = object(["pointer": ["type": "string", "format": "json-pointer"], "detail": ["type": "string"]])
        return object(
            [
                "type": ["type": "string", "format": "uri-reference", "description": "Explains the kind of problem."],
                "title": ["type": "string"],
                "status": ["type": "integer", "enum": JSONDocument(statuses)],
                "detail": ["type": "string"],
                "code": ["type": "string", "enum": JSONDocument(codes)],
                "request_id": ["type": "string"],
                "errors": [
                    "type": "array", "items": place,
                    "description": "What is wrong, place by place; at most 32 places of one document.",
                ],
                "accepted": [
                    "type": "array", "items": ["type": "string"],
                    "description": "Of event_not_accepted: the events that would be.",
                ],
                "screen": ["type": "string", "description": "Of unreachable: the first screen that blocks."],
                "report": [
                    "$ref": "#/components/schemas/ImportReport",
                    "description": "Of an import that could not go on: what became of it so far.",
                ],
                "start_again": object(
                    [
                        "method": ["const": "PUT"], "href": ["type": "string", "format": "uri-reference"],
                        "body": ["type": "object"],
                        "input": [
                            "description":
                                "The JSON Schema of the `input` that the body needs; not there: it needs none."
                        ],
                    ], required: ["method", "href", "body"]),
            ], required: ["type", "title", "status", "detail", "code", "request_id"])
    }

    private static let readinessDocument = object([
        "status": ["type": "string", "enum": ["ready", "not_ready"]],
        "checks": [
            "type": "array",
            "items": object(
                [
                    "name": ["type": "string"], "status": ["type": "string", "enum": ["ok", "failed"]],
                    "detail": ["type": "string"],
                ], required: ["name", "status"]),
        ],
    ])

    private static let serviceKindsDocument = list(
        of: object([
            "name": ["type": "string"], "kind": ["type": "string"], "default": [:],
            "concurrency": ["type": "string", "enum": ["last_write", "first_write"]],
            "lifetime_ms": ["type": ["integer", "null"]], "bound_to_user": ["type": "boolean"],
            "read_only": ["type": "boolean"], "live": natural,
        ]))

    private static let spaceGivenBackDocument = object([
        "given_back": natural, "free": natural,
        "possible": [
            "type": "boolean",
            "description": "False where there are no pages, and for a file that must not be in use for that.",
        ],
    ])

    private static let statisticsDocument = object([
        "sessions": object([
            "live": ["type": "integer", "minimum": 0, "description": "The same as `resident`."],
            "created": ["type": "integer", "minimum": 0, "description": "Since the server started."],
            "ended": [
                "type": "integer", "minimum": 0,
                "description": "Since the server started; in a store on disk one that expires when it is deleted.",
            ],
            "stored": [
                "type": "integer", "minimum": 0,
                "description": "In the store, those that have expired and are not deleted yet among them.",
            ],
            "resident": ["type": "integer", "minimum": 0, "description": "In memory."],
            "allowed": ["type": "integer", "minimum": 0, "description": "As many as may be stored: `max_sessions`."],
        ]),
        "journeys": object(["live": natural]),
        "services": [
            "type": "object", "additionalProperties": natural, "description": "Live instances by the service's name.",
        ],
        "store": object(
            [
                "kind": ["type": "string", "enum": ["memory", "sqlite"]],
                "durability": [
                    "type": "string", "enum": ["commit", "interval", "none"],
                    "description": """
                    When a write is on the disk: before its answer, at most `sync_interval_ms` later, or when the operating \
                    system gets to it, which of `memory` is never.
                    """,
                ],
                "sync_interval_ms": ["type": "integer", "minimum": 1, "description": "With `interval` only."],
                "file": [
                    "type": "string",
                    "description": "With `sqlite`: its file, opaque, and another text for any other file.",
                ],
            ], required: ["kind", "durability"]),
        "uptime_seconds": natural,
    ])
}
