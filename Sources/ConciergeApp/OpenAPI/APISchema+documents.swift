import JSONDocument

extension APISchema {
    /// JSON Schema, draft 2020-12, as in OpenAPI 3.1.
    var document: JSONDocument {
        switch self {
        case .session: Self.sessionDocument
        case .sessionList: Self.list(of: APISchema.session.reference)
        case .newSession:
            Self.closedObject(
                [
                    "labels": Self.labelChanges,
                    "mode": ["type": "string", "enum": ["bearer", "cookie"], "default": "bearer"],
                ], required: [])
        case .createdSession:
            // In cookie mode the token is only in Set-Cookie.
            Self.object(["session": APISchema.session.reference, "token": Self.token], required: ["session"])
        case .sessionPatch:
            Self.closedObject(["labels": Self.labelChanges], required: [])
        case .newToken: Self.object(["token": Self.token], required: [])
        case .count: Self.object(["count": Self.natural])
        case .signIn:
            Self.closedObject(
                ["user_id": ["type": "string", "minLength": 1, "maxLength": 256], "claims": ["type": "object"]],
                required: ["user_id"])
        case .signedIn: Self.object(["session": APISchema.session.reference, "token": Self.token])
        case .serviceListing: Self.serviceListingDocument
        case .serviceList: Self.list(of: APISchema.serviceListing.reference)
        case .serviceState, .servicePatch, .commandInput, .commandOutput:
            preconditionFailure("each service and command has a schema of its own, from LoadedSchemas")
        case .transaction: Self.transactionDocument
        case .transactionResults:
            Self.object([
                "results": [
                    "type": "array",
                    "items": Self.object(
                        [
                            "service": ["type": "string"], "etag": Self.etag,
                            "output": ["description": "Of a command that has one."],
                        ], required: ["service", "etag"]),
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
        case .taskClaim: Self.taskClaimDocument
        case .claimedTasks: Self.claimedTasksDocument
        case .taskResult: Self.taskResultDocument
        case .taskFailure: Self.taskFailureDocument
        case .taskLease: Self.taskLeaseDocument
        case .taskLeaseEnd: Self.taskLeaseEndDocument
        case .listedTask: Self.listedTaskDocument
        case .taskList: Self.list(of: APISchema.listedTask.reference)
        case .flowTrial: Self.flowTrialDocument
        case .journeyTrial: Self.journeyTrialDocument
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
        case .exportStart: Self.closedObject(["after": ["type": ["string", "null"]]], required: [])
        case .importReport: Self.importReportDocument
        case .anyObject: ["type": "object"]
        case .text: ["type": "string"]
        }
    }

    /// An object of these members. All are required unless `required` is given.
    static func object(
        _ properties: KeyValuePairs<String, JSONDocument>, required: [String]? = nil
    ) -> JSONDocument {
        JSONDocument(members: members(of: properties, required: required))
    }

    /// The same for a body in which unknown members are refused.
    static func closedObject(
        _ properties: KeyValuePairs<String, JSONDocument>, required: [String]? = nil
    ) -> JSONDocument {
        JSONDocument(members: members(of: properties, required: required) + [("additionalProperties", false)])
    }

    private static func members(
        of properties: KeyValuePairs<String, JSONDocument>, required: [String]?
    ) -> [(name: String, value: JSONDocument)] {
        let names = required ?? properties.map(\.key)
        return [
            ("type", "object"),
            ("properties", JSONDocument(members: properties.map { (name: $0.key, value: $0.value) })),
            ("required", JSONDocument(names.map { JSONDocument($0) })),
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
        "type": "string", "format": "date-time", "description": "In UTC, with milliseconds.",
    ]
    private static let etag: JSONDocument = ["type": "string", "pattern": "^\"[0-9]+\"$", "examples": ["\"7\""]]
    private static let token: JSONDocument = [
        "type": "string", "pattern": "^cg_", "description": "Shown once: the server keeps only its digest.",
    ]
    private static let labels: JSONDocument = [
        "type": "object", "additionalProperties": ["type": "string"], "maxProperties": 32,
    ]

    private static let labelChanges: JSONDocument = [
        "type": ["object", "null"], "propertyNames": ["minLength": 1, "maxLength": 64],
        "additionalProperties": ["type": ["string", "null"], "maxLength": 256],
        "description": "A merge patch: null removes a label, or all of them. Lengths are counted in bytes of UTF-8.",
    ]

    private static let sessionDocument = object([
        "id": ["type": "string", "pattern": "^ses_", "description": "Not a secret: it grants no access."],
        "created_at": time, "last_used_at": time, "idle_expires_at": time, "expires_at": time,
        "user_id": ["type": ["string", "null"]], "labels": labels, "revision": natural,
    ])

    private static let serviceListingDocument = object(
        [
            "name": ["type": "string"], "kind": ["type": "string"],
            "status": ["type": "string", "enum": ["registered", "live"]], "etag": etag,
            "owner": [
                "type": "string",
                "description": "Of a journey's services: `session`, or the flow whose coordinator owns it.",
            ], "created_at": time, "updated_at": time, "expires_at": time,
            "scope": [
                "type": "string", "enum": ["session", "process"],
                "description": "How many there are: one for each session, or one for all of them.",
            ],
            "commands": ["type": "array", "items": ["type": "string"]],
        ], required: ["name", "kind", "scope", "status", "etag", "commands"])

    private static let transactionDocument = closedObject([
        "operations": [
            "type": "array", "minItems": 1, "maxItems": JSONDocument(TransactionEndpoint.maximumOperations),
            "items": closedObject(
                [
                    "op": ["type": "string", "enum": ["put", "patch", "clear", "remove", "call"]],
                    "service": ["type": "string", "pattern": "^[a-z0-9-]{1,64}$"],
                    "command": ["type": "string", "description": "For call its name."],
                    "value": [
                        "description":
                            "For put the state; for patch a merge patch (RFC 7396: an object) or a JSON Patch (RFC 6902: an array); for call the input."
                    ],
                    "if_match": [
                        "type": "string", "pattern": "^(\"[^\"]+\"|[^\"]+)$",
                        "description": "An entity tag, with its quotes or without, or `*`.",
                    ],
                    "journey": [
                        "type": "string", "pattern": "^(main|jrn_[0-9a-f]{32})$",
                        "description":
                            "The journey whose topmost coordinator says which instance is meant; default: the session's.",
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
                    "description": "What is wrong, one entry for each place; at most 32 places.",
                ],
                "accepted": [
                    "type": "array", "items": ["type": "string"],
                    "description": "With event_not_accepted: the events that are accepted.",
                ],
                "reason": ["type": "string", "description": "With command_refused: the service's word for it."],
                "screen": ["type": "string", "description": "With unreachable: the first screen that blocks the way."],
                "report": [
                    "$ref": "#/components/schemas/ImportReport",
                    "description": "With an import that could not go on: its result so far.",
                ],
                "start_again": object(
                    [
                        "method": ["const": "PUT"], "href": ["type": "string", "format": "uri-reference"],
                        "body": ["type": "object"],
                        "input": [
                            "description":
                                "The JSON Schema of the `input` that the body needs; missing if it needs none."
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
            "description": "False if the store has no pages, or its file can only shrink while no server uses it.",
        ],
    ])

    private static let statisticsDocument = object([
        "sessions": object([
            "live": ["type": "integer", "minimum": 0, "description": "The same as `resident`."],
            "created": ["type": "integer", "minimum": 0, "description": "Since the server started."],
            "ended": [
                "type": "integer", "minimum": 0,
                "description":
                    "Since the server started. In a store on disk, an expired session counts when it is deleted.",
            ],
            "stored": [
                "type": "integer", "minimum": 0,
                "description": "In the store, including expired sessions that are not deleted yet.",
            ],
            "resident": ["type": "integer", "minimum": 0, "description": "In memory."],
            "allowed": [
                "type": "integer", "minimum": 0, "description": "The most that may be stored: `max_sessions`.",
            ],
        ]),
        "journeys": object(["live": natural]),
        "services": [
            "type": "object", "additionalProperties": natural, "description": "Live instances by the service's name.",
        ],
        "store": object(
            [
                "kind": ["type": "string", "enum": JSONDocument(Configuration.Store.schemes.map { JSONDocument($0) })],
                "durability": [
                    "type": "string", "enum": ["commit", "interval", "none", "unknown"],
                    "description": """
                    When a write is on the disk: before its response, at most `sync_interval_ms` later, or when the operating \
                    system writes it. `none` with `memory`. With `redis` what Redis says of itself, if it does.
                    """,
                ],
                "sync_interval_ms": ["type": "integer", "minimum": 1, "description": "With `interval` only."],
                "file": [
                    "type": "string",
                    "description": "With `sqlite`: an opaque text that identifies its file.",
                ],
            ], required: ["kind", "durability"]),
        "uptime_seconds": natural,
    ])
}
