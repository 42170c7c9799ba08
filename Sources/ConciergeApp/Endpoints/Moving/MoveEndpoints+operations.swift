extension MoveEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/exports", id: "exportSessions",
            summary: "Every session with its services, journeys and user, as lines of JSON",
            parameters: [.after], body: .json(.exportStart, isRequired: false),
            answers: [
                APIAnswer(
                    status: .ok,
                    meaning:
                        "A header, a line for each session, and an end, without which something is missing. It has no "
                        + "length, and goes on for as long as it takes.",
                    contents: [(mediaTypes[0], .text)])
            ],
            problems: [.invalidInput, .idempotencyKeyNotPossible]),
        APIOperation(
            method: .post, path: "/v1/imports", id: "importSessions",
            summary: "Takes in what an export gave, session by session",
            parameters: [.onConflict, .dryRun, .idempotencyKey],
            body: APIBody(contents: mediaTypes.map { ($0, .text) }),
            answers: [.json("What became of it.", .importReport, headers: [.idempotencyReplayed])],
            problems: [
                .invalidInput, .notAnExport, .tooManySessions, .contention, .storageFull,
            ]),
    ]
}
