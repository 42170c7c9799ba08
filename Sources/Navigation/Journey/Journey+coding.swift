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

    /// Times are those since the start, but for the start itself.
    package func write(to json: inout JSONWriter) {
        json.beginArray()
        json.string(id)
        json.int(status.code)
        json.uint(step)
        json.string(flow)
        json.int(version)
        json.int(Int(startedAt))
        json.int(Int(movedAt - startedAt))
        json.int(Int(enteredAt - startedAt))
        json.optional(expiresAt) { $0.int(Int($1 - startedAt)) }
        json.optional(dueAt) { $0.int(Int($1 - startedAt)) }
        json.beginArray()
        for frame in frames { frame.write(to: &json) }
        json.endArray()
        json.beginArray()
        for coordinator in coordinators { coordinator.write(to: &json, startOfJourney: startedAt) }
        json.endArray()
        json.optional(outcome) { $0.string($1) }
        if let output { json.document(output) }
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
        startedAt = try json.int()
        movedAt = try json.time(since: startedAt)
        enteredAt = try json.time(since: startedAt)
        expiresAt = json.isNull() ? nil : try json.time(since: startedAt)
        dueAt = json.isNull() ? nil : try json.time(since: startedAt)
        frames = []
        try json.beginArray()
        while !json.endsArray() { frames.append(try Frame(reading: &json)) }
        coordinators = []
        try json.beginArray()
        while !json.endsArray() {
            let coordinator = try Coordinator(reading: &json, startOfJourney: startedAt)
            // Parents stand before their children, and the first is the journey's own flow.
            guard coordinator.parent.map({ self.coordinator($0) != nil }) ?? coordinators.isEmpty,
                self.coordinator(coordinator.id) == nil
            else { throw JSONReadError.notAJourney }
            coordinators.append(coordinator)
        }
        guard frames.allSatisfy({ coordinator($0.coordinator) != nil }) else { throw JSONReadError.notAJourney }
        outcome = json.isNull() ? nil : try json.string()
        // No output is not the same as null.
        if json.endsArray() { return }
        output = try json.document()
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
        guard let mark = Mark(rawValue: Int(try json.int())) else { throw JSONReadError.notAJourney }
        self.mark = mark
        try json.endArray()
    }
}

extension Coordinator {
    fileprivate func write(to json: inout JSONWriter, startOfJourney: Int64) {
        json.beginArray()
        json.int(id)
        json.string(flow)
        json.int(version)
        json.optional(parent) { $0.int($1) }
        json.optional(startedBy) { $0.string($1) }
        json.document(input)
        json.int(Int(startedAt - startOfJourney))
        json.endArray()
    }

    fileprivate init(reading json: inout JSONReader, startOfJourney: Int64) throws(JSONReadError) {
        try json.beginArray()
        id = Int(try json.int())
        flow = try json.string()
        version = Int(try json.int())
        parent = json.isNull() ? nil : Int(try json.int())
        startedBy = json.isNull() ? nil : try json.string()
        input = try json.document()
        startedAt = try json.time(since: startOfJourney)
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
        guard let status = Self.allCases.first(where: { $0.code == code }) else { throw .notAJourney }
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
        default: throw .notAJourney
        }
    }
}

extension JSONReadError {
    fileprivate static let notAJourney = JSONReadError(offset: 0)
}

extension JSONWriter {
    fileprivate mutating func optional<Value>(_ value: Value?, _ write: (inout JSONWriter, Value) -> Void) {
        if let value { write(&self, value) } else { null() }
    }
}

extension JSONReader {
    fileprivate mutating func time(since start: Int64) throws(JSONReadError) -> Int64 { start &+ (try int()) }
}
