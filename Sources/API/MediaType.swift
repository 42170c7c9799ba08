package enum MediaType {
    package static let json = "application/json"
    package static let mergePatch = "application/merge-patch+json"
    package static let jsonPatch = "application/json-patch+json"
    /// Lines of JSON have no registered type. Exports are sent as the first.
    package static let lines = ["application/x-ndjson", "application/ndjson", "application/jsonl"]
}
