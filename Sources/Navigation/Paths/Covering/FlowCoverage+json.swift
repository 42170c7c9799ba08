import JSONDocument

extension FlowCoverage {
    /// The scripts as JSON, each as `concierge simulate` takes it:
    /// `{"flow", "version", "scripts": [{"input"?, "events": [{"event", "data"?} or {"wait"}], "takes": […]}], "uncovered"}`.
    public var json: JSONDocument {
        [
            "flow": JSONDocument(flow), "version": JSONDocument(version),
            "scripts": JSONDocument(
                scripts.map { script in
                    let input = script.input.map { [(name: "input", value: $0)] } ?? []
                    return JSONDocument(
                        members: input + [
                            (name: "events", value: JSONDocument(script.entries.map(\.json))),
                            (name: "takes", value: JSONDocument(script.takes.map { JSONDocument($0) })),
                        ])
                }),
            "uncovered": JSONDocument(
                uncovered.map { ["transition": JSONDocument($0.transition), "reason": JSONDocument($0.reason)] }),
        ]
    }
}

extension FlowScript.Entry {
    /// An event as it is sent.
    public var json: JSONDocument {
        switch self {
        case .event(let name, let data):
            data.count == 0 ? ["event": JSONDocument(name)] : ["event": JSONDocument(name), "data": data]
        case .wait(let milliseconds):
            ["wait": JSONDocument(DurationText.format(.milliseconds(milliseconds)))]
        }
    }
}
