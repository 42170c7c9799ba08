import API

extension MoveEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/exports", id: "exportSessions",
            summary: "Every session with its services, journeys and user, as lines of JSON",
            parameters: [.after], body: .json("ExportStart", isRequired: false),
            responses: [
                APIResponse(
                    status: .ok,
                    meaning:
                        "A header, a line for each session, and an end. If the end is missing, so are sessions. It has no "
                        + "length, and takes as long as it needs.",
                    contents: [(MediaType.lines[0], "Text")])
            ],
            problems: [.invalidInput, .idempotencyKeyNotPossible]),
        APIOperation(
            method: .post, path: "/v1/imports", id: "importSessions",
            summary: "Imports an export, session by session",
            parameters: [.onConflict, .dryRun, .idempotencyKey],
            body: APIBody(MediaType.lines.map { ($0, "Text") }),
            responses: [.json("The result.", "ImportReport", headers: [.idempotencyReplayed])],
            problems: [
                .invalidInput, .notAnExport, .tooManySessions, .contention, .storageFull,
            ]),
    ]
}
