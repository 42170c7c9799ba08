import API

extension WatchEndpoint {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/sessions/{session}/events", id: "watchSession",
            summary: "A stream of the session's changes, one event for each committed change",
            parameters: [.lastEventID],
            responses: [
                APIResponse(
                    status: .ok, meaning: "The stream. It has no end until the session ends.",
                    contents: [(EventStream.mediaType, "Text")])
            ],
            problems: [.invalidInput, .resumePointGone])
    ]
}
