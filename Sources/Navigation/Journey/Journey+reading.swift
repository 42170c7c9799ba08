import JSONDocument

/// Reads the text of ``Journey/write(to:)`` without making a document: this happens at each step of each journey.
extension Journey {
    /// - Throws: when the text has another form than ``write(to:)`` gives it. It may still be a journey that another
    ///   program wrote; ``init(_:)`` reads that.
    package init(reading json: inout JSONReader) throws(JSONReadError) {
        try json.beginObject()
        try json.name("id")
        let id = try json.string()
        try json.name("step")
        let step = UInt64(clamping: try json.int())
        try json.name("at")
        try json.beginArray()
        let startedAt = try json.int()
        let movedAt = json.endsArray() ? nil : startedAt &+ (try json.int())
        let enteredAt = movedAt == nil || json.endsArray() ? nil : startedAt &+ (try json.int())
        if enteredAt != nil { try json.endArray() }
        let expiresAt = json.isName("end") ? try json.int() : nil
        let dueAt = json.isName("due") ? try json.int() : expiresAt
        var coordinators: [Coordinator] = []
        var frames: [Frame] = []
        var task: PendingTask?
        var owned: [OwnedService] = []
        let status: JourneyStatus
        let flow: String
        let version: Int
        if json.isName("who") {
            status = .active
            try json.beginArray()
            while !json.endsArray() {
                coordinators.append(try Coordinator(reading: &json, startOfJourney: startedAt))
            }
            guard let first = coordinators.first else { throw .notAJourney }
            (flow, version) = (first.flow, first.version)
            try json.name("on")
            try json.beginArray()
            // Room for a usual stack and the frame that the step may add.
            frames.reserveCapacity(8)
            while !json.endsArray() { frames.append(try Frame(reading: &json, at: frames.count)) }
            if json.isName("task") { task = try PendingTask(reading: &json) }
            if json.isName("own") {
                try json.beginArray()
                while !json.endsArray() { owned.append(try OwnedService(reading: &json, startOfJourney: startedAt)) }
            }
        } else {
            try json.name("status")
            guard let known = JourneyStatus(rawValue: try json.string()) else { throw .notAJourney }
            status = known
            try json.name("flow")
            flow = try json.string()
            try json.name("version")
            version = Int(try json.int())
        }
        let outcome = json.isName("outcome") ? try json.string() : nil
        // Not a conditional expression: there, nil would mean the document null.
        var output: JSONDocument?
        if json.isName("output") { output = try json.document() }
        let isOfUser = json.isName("user") ? try json.int() == 1 : false
        try json.endObject()
        self.init(
            id: id, status: status, step: step, frames: frames, coordinators: coordinators, flow: flow,
            version: version, outcome: outcome, output: output, startedAt: startedAt, movedAt: movedAt ?? startedAt,
            enteredAt: enteredAt ?? movedAt ?? startedAt, expiresAt: expiresAt, dueAt: dueAt, task: task,
            owned: owned, isOfUser: isOfUser)
    }
}

extension PendingTask {
    fileprivate convenience init(reading json: inout JSONReader) throws(JSONReadError) {
        try json.beginArray()
        let number = try json.int()
        guard number > 0 else { throw .notAJourney }
        self.init(number: UInt64(number), name: try json.string(), input: try json.document())
        try json.endArray()
    }
}

extension OwnedService {
    fileprivate init(reading json: inout JSONReader, startOfJourney: Int64) throws(JSONReadError) {
        try json.beginArray()
        self.init(
            coordinator: Int(try json.int()), name: try json.string(), revision: UInt64(clamping: try json.int()),
            createdAt: startOfJourney &+ (try json.int()), updatedAt: startOfJourney &+ (try json.int()),
            document: try json.document())
        try json.endArray()
    }
}

extension Coordinator {
    fileprivate init(reading json: inout JSONReader, startOfJourney: Int64) throws(JSONReadError) {
        try json.beginArray()
        let flow = try json.string()
        let version = Int(try json.int())
        var input = JSONDocument.emptyObject
        var startedAt = startOfJourney
        var child: (id: Int, parent: Int, startedBy: String)?
        if !json.endsArray() {
            input = try json.document()
            startedAt &+= try json.int()
            if !json.endsArray() {
                child = (Int(try json.int()), Int(try json.int()), try json.string())
                try json.endArray()
            }
        }
        self.init(
            id: child?.id ?? 0, flow: flow, version: version, parent: child?.parent, startedBy: child?.startedBy,
            input: input, startedAt: startedAt)
    }
}

extension Frame {
    fileprivate init(reading json: inout JSONReader, at place: Int) throws(JSONReadError) {
        let usual: Presentation = place == 0 ? .root : .push
        guard json.isArray() else {
            self.init(coordinator: 0, state: try json.string(), presentation: usual)
            return
        }
        let state = try json.string()
        let coordinator = Int(try json.int())
        var presentation: Presentation? = usual
        var mark: Mark? = Mark.none
        var params: JSONDocument?
        if !json.endsArray() {
            presentation = Presentation(rawValue: try json.string())
            if !json.endsArray() {
                mark = Mark(rawValue: Int(try json.int()))
                if !json.endsArray() {
                    params = try json.document()
                    try json.endArray()
                }
            }
        }
        guard let presentation, let mark else { throw .notAJourney }
        self.init(coordinator: coordinator, state: state, presentation: presentation, mark: mark, params: params)
    }
}

extension JSONReadError {
    fileprivate static let notAJourney = JSONReadError(offset: 0)
}
