import JSONDocument

/// How journeys are kept: as an array of values by their place, which is short, for there is one in every session, and
/// quick to read, for that is done at each step.
extension Journey {
    public var document: JSONDocument {
        // What the writer makes is JSON.
        (try? JSONDocument(parsing: json)) ?? .null
    }

    /// The text of ``document``.
    public var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256)
        write(to: &writer)
        return writer.bytes
    }

    /// Nil when the document is not that of a journey.
    public init?(_ document: JSONDocument) {
        var reader = JSONReader(document.serialized())
        guard let journey = try? Journey(reading: &reader) else { return nil }
        self = journey
    }

    package func write(to json: inout JSONWriter) {
        json.beginArray()
        json.string(id)
        json.int(status.code)
        json.uint(step)
        json.string(flow)
        json.int(version)
        json.beginArray()
        for frame in frames { frame.write(to: &json) }
        json.endArray()
        json.beginArray()
        for coordinator in coordinators { coordinator.write(to: &json) }
        json.endArray()
        json.optional(outcome) { $0.string($1) }
        json.optional(output) { $0.document($1) }
        json.int(Int(startedAt))
        json.int(Int(movedAt))
        json.int(Int(enteredAt))
        json.optional(expiresAt) { $0.int(Int($1)) }
        json.optional(dueAt) { $0.int(Int($1)) }
        json.endArray()
    }

    /// - Throws: when it is not what ``write(to:)`` wrote.
    package init(reading json: inout JSONReader) throws(JSONReadError) {
        try json.beginArray()
        id = try json.string()
        status = try JourneyStatus(code: try json.int())
        step = UInt64(clamping: try json.int())
        flow = try json.string()
        version = Int(try json.int())
        frames = []
        try json.beginArray()
        while !json.endsArray() { frames.append(try Frame(reading: &json)) }
        coordinators = []
        try json.beginArray()
        while !json.endsArray() { coordinators.append(try Coordinator(reading: &json)) }
        outcome = json.isNull() ? nil : try json.string()
        output = json.isNull() ? nil : try json.document()
        startedAt = try json.int()
        movedAt = try json.int()
        enteredAt = try json.int()
        expiresAt = json.isNull() ? nil : try json.int()
        dueAt = json.isNull() ? nil : try json.int()
        try json.endArray()
    }
}

extension Frame {
    fileprivate func write(to json: inout JSONWriter) {
        json.beginArray()
        json.int(coordinator)
        json.string(state)
        json.int(presentation.code)
        json.int(mark.rawValue)
        json.endArray()
    }

    fileprivate init(reading json: inout JSONReader) throws(JSONReadError) {
        try json.beginArray()
        coordinator = Int(try json.int())
        state = try json.string()
        presentation = try Presentation(code: try json.int())
        guard let mark = Mark(rawValue: Int(try json.int())) else { throw JSONReadError.unknownCode }
        self.mark = mark
        try json.endArray()
    }
}

extension Coordinator {
    fileprivate func write(to json: inout JSONWriter) {
        json.beginArray()
        json.int(id)
        json.string(flow)
        json.int(version)
        json.optional(parent) { $0.int($1) }
        json.optional(startedBy) { $0.string($1) }
        json.document(input)
        json.int(Int(startedAt))
        json.endArray()
    }

    fileprivate init(reading json: inout JSONReader) throws(JSONReadError) {
        try json.beginArray()
        id = Int(try json.int())
        flow = try json.string()
        version = Int(try json.int())
        parent = json.isNull() ? nil : Int(try json.int())
        startedBy = json.isNull() ? nil : try json.string()
        input = try json.document()
        startedAt = try json.int()
        try json.endArray()
    }
}

extension JourneyStatus {
    fileprivate var code: Int {
        switch self {
        case .active: 0
        case .finished: 1
        case .expired: 2
        }
    }

    fileprivate init(code: Int64) throws(JSONReadError) {
        guard let status = Self.allCases.first(where: { $0.code == code }) else { throw .unknownCode }
        self = status
    }
}

extension Frame.Presentation {
    fileprivate var code: Int {
        switch self {
        case .root: 0
        case .push: 1
        case .modal: 2
        }
    }

    fileprivate init(code: Int64) throws(JSONReadError) {
        switch code {
        case 0: self = .root
        case 1: self = .push
        case 2: self = .modal
        default: throw .unknownCode
        }
    }
}

extension JSONReadError {
    fileprivate static let unknownCode = JSONReadError(offset: 0)
}

extension JSONWriter {
    fileprivate mutating func optional<Value>(_ value: Value?, _ write: (inout JSONWriter, Value) -> Void) {
        if let value { write(&self, value) } else { null() }
    }
}
