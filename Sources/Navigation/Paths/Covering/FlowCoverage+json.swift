import JSONDocument

extension FlowCoverage {
    /// The scripts as JSON: `{"flow", "version", "scripts": [{"events": [{"event", "data"?}], "takes": […]}], "uncovered"}`.
    public var json: JSONDocument {
        [
            "flow": JSONDocument(flow), "version": JSONDocument(version),
            "scripts": JSONDocument(
                scripts.map { script in
                    [
                        "events": JSONDocument(script.entries.map(\.json)),
                        "takes": JSONDocument(script.takes.map { JSONDocument($0) }),
                    ]
                }),
            "uncovered": JSONDocument(
                uncovered.map { ["transition": JSONDocument($0.transition), "reason": JSONDocument($0.reason)] }),
        ]
    }
}

extension FlowScript.Entry {
    /// As it is sent.
    public var json: JSONDocument {
        data.count == 0 ? ["event": JSONDocument(event)] : ["event": JSONDocument(event), "data": data]
    }
}
