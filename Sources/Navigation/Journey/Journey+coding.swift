import JSONDocument

/// The stored form of a journey: a compact document, because every session may have one.
///
/// ```json
/// {"id":"main","step":3,"at":[1767225600000],"who":[["wizard",1]],
///  "on":["start","page1",["edit",1,"modal"]],"due":1767227400000}
/// ```
///
/// - `at`: the start, then the milliseconds from there to the last step and to entering the screen, where not 0
/// - `who`: the coordinators: flow and version; then, unless it is the simplest, input and start; for children also id,
///   parent and the state that started it
/// - `on`: the frames: the state alone for a pushed frame of the first coordinator, else state, coordinator,
///   presentation, mark and params
/// - `task`: the number, name and input of the task that it waits for; then, if there are any, its notes
///   (``TaskNotes``)
/// - `challenge`: that of the event that led to the task
/// - `own`: what coordinators own, oldest first: coordinator, service, revision, the milliseconds from the start of the
///   journey to making and to writing it, and the document
/// - `timers`: of each timer that has been due: the coordinator whose flow has it, or -1 for the top screen; its key;
///   how many moments have passed, or 0 for no more; the first of these, where the data says it
/// - `input`: what the flow of a journey that is over was given, unless that was an empty object
/// - `say`: what the last step tells the person: the text, then, where it has several, by language
/// - `user`: 1 when a user was signed in at the last step
extension Journey {
    /// The stored form of the journey.
    public var document: JSONDocument {
        // The writer always writes valid JSON.
        (try? JSONDocument(parsing: json)) ?? .null
    }

    /// The text of ``document``.
    public var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256)
        write(to: &writer)
        return writer.bytes
    }

    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.add(#""id":"#, id)
        writer.add(#","step":"#, step)
        writeTimes(to: &writer)
        if status == .active {
            for place in coordinators.indices {
                writer.add(place == 0 ? #","who":[["# : ",[")
                write(coordinators[place], to: &writer)
            }
            writer.add(coordinators.isEmpty ? #","who":[],"on":["# : #"],"on":["#)
            for place in frames.indices { write(frames[place], at: place, to: &writer) }
            writer.add("]")
            if let task { write(task, to: &writer) }
            if !owned.isEmpty { writeOwned(to: &writer) }
            if let timers { timers.write(to: &writer) }
        } else {
            writer.name("status")
            writer.string(status.rawValue)
            writer.name("flow")
            writer.string(flow)
            writer.name("version")
            writer.int(version)
            if let formerInput {
                writer.name("input")
                writer.document(formerInput)
            }
        }
        if let outcome {
            writer.name("outcome")
            writer.string(outcome)
        }
        if let output {
            writer.name("output")
            writer.document(output)
        }
        if let message { write(message, to: &writer) }
        if isOfUser { writer.add(#","user":"#, 1) }
        writer.endObject()
    }

    private func write(_ message: SaidText, to writer: inout JSONWriter) {
        writer.name("say")
        writer.beginArray()
        writer.string(message.text)
        if !message.translations.isEmpty {
            let texts = message.translations.sorted { $0.key < $1.key }
            writer.document(JSONDocument(members: texts.map { (name: $0.key, value: JSONDocument($0.value)) }))
        }
        writer.endArray()
    }

    private func write(_ task: PendingTask, to writer: inout JSONWriter) {
        writer.name("task")
        writer.beginArray()
        writer.uint(task.number)
        writer.string(task.name)
        writer.document(task.input)
        if let notes = task.notes { writer.document(notes.document) }
        writer.endArray()
        if let challenge = task.challenge { writer.add(#","challenge":"#, challenge) }
    }

    private func writeOwned(to writer: inout JSONWriter) {
        writer.name("own")
        writer.beginArray()
        for service in owned {
            writer.beginArray()
            writer.int(service.coordinator)
            writer.string(service.name)
            writer.uint(service.revision)
            writer.int(Int(service.createdAt &- startedAt))
            writer.int(Int(service.updatedAt &- startedAt))
            writer.document(service.document)
            writer.endArray()
        }
        writer.endArray()
    }

    private func writeTimes(to writer: inout JSONWriter) {
        writer.add(#","at":["#, Int(startedAt))
        if movedAt != startedAt || enteredAt != startedAt {
            writer.add(",", Int(movedAt &- startedAt))
            if enteredAt != movedAt { writer.add(",", Int(enteredAt &- startedAt)) }
        }
        writer.add("]")
        if let expiresAt { writer.add(#","end":"#, Int(expiresAt)) }
        if let dueAt, dueAt != expiresAt { writer.add(#","due":"#, Int(dueAt)) }
    }

    private func write(_ coordinator: Coordinator, to writer: inout JSONWriter) {
        let isRoot = coordinator.parent == nil
        writer.add("", coordinator.flow)
        writer.add(",", coordinator.version)
        if !isRoot || coordinator.input != .emptyObject || coordinator.startedAt != startedAt {
            writer.document(coordinator.input)
            writer.int(Int(coordinator.startedAt &- startedAt))
        }
        if let parent = coordinator.parent {
            writer.int(coordinator.id)
            writer.int(parent)
            writer.string(coordinator.startedBy ?? "")
        }
        writer.endArray()
    }

    private func write(_ frame: Frame, at place: Int, to writer: inout JSONWriter) {
        let usual: Frame.Presentation = place == 0 ? .root : .push
        let isPlain = frame.presentation == usual && frame.mark == .none && frame.params == nil
        if isPlain, frame.coordinator == 0 { return writer.add(place == 0 ? "" : ",", frame.state) }
        writer.add(place == 0 ? "[" : ",[", frame.state)
        writer.int(frame.coordinator)
        if !isPlain { writer.string(frame.presentation.rawValue) }
        if frame.mark != .none || frame.params != nil { writer.int(frame.mark.rawValue) }
        if let params = frame.params { writer.document(params) }
        writer.endArray()
    }

    /// Reads a stored journey, with its members in any order; nil when the document is not a journey.
    public init?(_ document: JSONDocument) {
        // In the order of writing, in which the reader wants them.
        let names = [
            "id", "step", "at", "end", "due", "who", "on", "task", "challenge", "own", "timers", "status", "flow",
            "version",
            "input", "outcome", "output", "say", "user",
        ]
        var ordered = JSONWriter(reservingCapacity: 256)
        ordered.beginObject()
        for name in names {
            guard let value = document[member: name] else { continue }
            ordered.name(name)
            ordered.document(value)
        }
        ordered.endObject()
        do {
            var reader = try JSONReader(ordered.bytes)
            try self.init(reading: &reader)
        } catch {
            return nil
        }
    }
}

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
        var extras = Extras()
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
            if json.isName("task") { extras.task = try PendingTask(reading: &json) }
            if json.isName("own") {
                try json.beginArray()
                while !json.endsArray() {
                    extras.owned.append(try OwnedService(reading: &json, startOfJourney: startedAt))
                }
            }
            if json.isName("timers") { extras.timers = try PassedTimers(reading: &json) }
        } else {
            try json.name("status")
            guard let known = JourneyStatus(rawValue: try json.string()) else { throw .notAJourney }
            status = known
            try json.name("flow")
            flow = try json.string()
            try json.name("version")
            version = Int(try json.int())
            if json.isName("input") { extras.formerInput = try json.document() }
        }
        if json.isName("outcome") { extras.outcome = try json.string() }
        if json.isName("output") { extras.output = try json.document() }
        if json.isName("say") { extras.message = try SaidText(reading: &json) }
        let isOfUser = json.isName("user") ? try json.int() == 1 : false
        try json.endObject()
        self.init(
            id: id, status: status, step: step, frames: frames, coordinators: coordinators, flow: flow,
            version: version, startedAt: startedAt, movedAt: movedAt ?? startedAt,
            enteredAt: enteredAt ?? movedAt ?? startedAt, expiresAt: expiresAt, dueAt: dueAt, isOfUser: isOfUser,
            box: extras.boxed)
    }
}

extension PendingTask {
    fileprivate convenience init(reading json: inout JSONReader) throws(JSONReadError) {
        try json.beginArray()
        let number = try json.int()
        guard number > 0 else { throw .notAJourney }
        let (name, input) = (try json.string(), try json.document())
        var notes: TaskNotes?
        if !json.endsArray() {
            notes = TaskNotes(try json.document())
            if notes == nil { throw .notAJourney }
            try json.endArray()
        }
        let challenge = json.isName("challenge") ? try json.string() : nil
        self.init(number: UInt64(number), name: name, input: input, challenge: challenge, notes: notes)
    }
}

extension SaidText {
    fileprivate init(reading json: inout JSONReader) throws(JSONReadError) {
        try json.beginArray()
        let text = try json.string()
        var translations: [String: String] = [:]
        if !json.endsArray() {
            for (language, text) in try json.document().members ?? [] { translations[language] = text.string }
            try json.endArray()
        }
        self.init(text: text, translations: translations)
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
