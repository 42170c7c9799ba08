import JSONDocument

// Tasks of journeys: API, section 7.
extension APISchema {
    private static let duration: JSONDocument = [
        "type": "string", "pattern": JSONDocument(DurationText.pattern), "examples": ["30s", "PT30S"],
    ]
    private static let taskID: JSONDocument = [
        "type": "string", "pattern": JSONDocument(APIParameter.taskIDPattern),
    ]
    private static let attempt: JSONDocument = [
        "type": "integer", "minimum": 1,
        "description": "The `attempt` of the claimed task: if a later one has begun, the response is 409.",
    ]
    private static let nullableTime: JSONDocument = ["type": ["string", "null"], "format": "date-time"]

    static let taskClaimDocument = closedObject(
        [
            "task": ["type": "string", "minLength": 1, "description": "The name that flows give the task."],
            "max": ["type": "integer", "minimum": 1, "maximum": 100, "default": 1],
            "lease": [
                "type": "string", "pattern": JSONDocument(DurationText.pattern), "default": "30s",
                "description": "How long the caller has for each task; after that it is handed out again.",
            ],
            "wait": [
                "type": "string", "pattern": JSONDocument(DurationText.pattern), "default": "0s",
                "description": "How long to wait for a task, if there is none.",
            ],
        ], required: ["task"])

    static let claimedTasksDocument = object([
        "items": [
            "type": "array",
            "items": object([
                "id": taskID, "task": ["type": "string"], "input": ["description": "What the flow gives the task."],
                "session": object(["id": ["type": "string"], "user_id": ["type": ["string", "null"]]]),
                "journey": object([
                    "id": ["type": "string"], "flow": ["type": "string"], "version": ["type": "integer"],
                    "step": natural,
                ]),
                "attempt": ["type": "integer", "minimum": 1], "lease_expires_at": time,
            ]),
        ]
    ])

    static let taskResultDocument = closedObject(
        [
            "outcome": [
                "type": "string", "minLength": 1, "description": "One for which the flow has a transition.",
            ],
            "output": ["description": "What the transition finds at `/output`; default null."],
        ], required: ["outcome"])

    static let taskFailureDocument = closedObject(
        [
            "reason": [
                "type": "string", "minLength": 1, "description": "After the last attempt it is in `/output/reason`.",
            ],
            "retry_after": [
                "type": "string", "pattern": JSONDocument(DurationText.pattern),
                "description": "In place of the time that the flow's `retry` says.",
            ],
            "attempt": attempt,
        ], required: ["reason"])

    static let taskLeaseDocument = closedObject(
        ["lease": duration, "attempt": attempt], required: ["lease"])

    static let taskLeaseEndDocument = object(["lease_expires_at": time])

    static let listedTaskDocument = object([
        "id": taskID, "task": ["type": "string"], "status": ["type": "string", "enum": ["waiting", "claimed"]],
        "session": ["type": "string"], "journey": ["type": "string"],
        "attempt": ["type": "integer", "minimum": 0, "description": "Attempts that have begun."],
        "attempts": ["type": "integer", "minimum": 1, "description": "The most attempts."], "created_at": time,
        "lease_expires_at": nullableTime, "next_attempt_at": nullableTime,
    ])
}
