import JSONDocument

/// The data that paths, templates and guards see at one moment of a step.
struct DataScope {
    let services: StepServices
    var event: EventData
    let input: JSONDocument
    var output: JSONDocument?
    let now: Int64

    enum EventData {
        /// No event brought this about.
        case none
        /// One may come, nobody knows with what: looking at what is possible.
        case unknown
        case data(JSONDocument)
    }

    /// A value, that there is none, or that nobody knows.
    enum Finding {
        case value(JSONDocument)
        case missing
        case unknown
    }

    func find(_ path: DataPath) -> Finding {
        let whole: JSONDocument?
        switch path.root {
        case .service(let name): whole = services.document(of: name)
        case .event:
            switch event {
            case .none: whole = nil
            case .unknown: return .unknown
            case .data(let data): whole = data
            }
        case .input: whole = input
        case .output: whole = output
        case .now: whole = JSONDocument(Timestamp(millisecondsSince1970: now).description)
        }
        guard let value = whole?.value(at: path.pointer) else { return .missing }
        return .value(value)
    }

    /// The value that a template makes.
    ///
    /// - Throws: ``JourneyRefusal/actionFailed(_:)`` with the path at which there is no value.
    func value(of template: ValueTemplate) throws(JourneyRefusal) -> JSONDocument {
        switch template {
        case .literal(let literal): return literal
        case .from(let path, let fallback):
            if case .value(let value) = find(path) { return value }
            guard let fallback else {
                throw .actionFailed(JSONViolation(pointer: path.text, detail: "is needed here, and there is no value"))
            }
            return try value(of: fallback)
        case .array(let elements):
            var values: [JSONDocument] = []
            values.reserveCapacity(elements.count)
            for element in elements { values.append(try value(of: element)) }
            return JSONDocument(values)
        case .object(let members):
            var values: [(name: String, value: JSONDocument)] = []
            values.reserveCapacity(members.count)
            for member in members { values.append((name: member.name, value: try value(of: member.value))) }
            return JSONDocument(members: values)
        }
    }
}
