import JSONDocument

/// The data that the paths, templates and guards of a flow see at one moment of a step.
struct DataScope {
    let flow: FlowDefinition
    let services: StepServices
    var event: EventData
    let input: JSONDocument
    let output: JSONDocument?
    /// The `params` of the frame.
    let frame: JSONDocument?
    let now: Int64

    /// The data of the event.
    enum EventData {
        /// The step has no event.
        case none
        /// An event may come, with data that is not known yet: the step only looks at what is possible.
        case unknown
        case data(JSONDocument)
    }

    /// The result of looking at a path.
    enum Finding {
        case value(JSONDocument)
        case missing
        /// It depends on an event that has not come.
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
        case .frame: whole = frame
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
            guard let fallback else { throw .missingValue(at: path) }
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

extension JourneyRefusal {
    static func missingValue(at path: DataPath) -> JourneyRefusal {
        .actionFailed(JSONViolation(pointer: path.text, detail: "is needed here, and there is no value"))
    }
}
