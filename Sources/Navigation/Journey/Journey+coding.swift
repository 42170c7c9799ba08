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
/// - `task`: the number, name and input of the task that it waits for
/// - `own`: what coordinators own, oldest first: coordinator, service, revision, the milliseconds from the start of the
///   journey to making and to writing it, and the document
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
        } else {
            writer.name("status")
            writer.string(status.rawValue)
            writer.name("flow")
            writer.string(flow)
            writer.name("version")
            writer.int(version)
        }
        if let outcome {
            writer.name("outcome")
            writer.string(outcome)
        }
        if let output {
            writer.name("output")
            writer.document(output)
        }
        if isOfUser { writer.add(#","user":"#, 1) }
        writer.endObject()
    }

    private func write(_ task: PendingTask, to writer: inout JSONWriter) {
        writer.name("task")
        writer.beginArray()
        writer.uint(task.number)
        writer.string(task.name)
        writer.document(task.input)
        writer.endArray()
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
        guard let id = document[member: "id"]?.string, let step = document[member: "step"]?.int, step >= 0,
            let startedAt = document[member: "at"]?[0]?.int.map(Int64.init)
        else { return nil }
        let times = document[member: "at"]
        let movedAt = startedAt &+ Int64(times?[1]?.int ?? 0)
        let enteredAt = times?[2]?.int.map { startedAt &+ Int64($0) } ?? movedAt
        let expiresAt = document[member: "end"]?.int.map(Int64.init)
        let dueAt = document[member: "due"]?.int.map(Int64.init) ?? expiresAt
        var status = JourneyStatus.active
        var coordinators: [Coordinator] = []
        var frames: [Frame] = []
        var task: PendingTask?
        var owned: [OwnedService] = []
        var flow = document[member: "flow"]?.string
        var version = document[member: "version"]?.int
        if let written = document[member: "status"]?.string {
            guard let known = JourneyStatus(rawValue: written) else { return nil }
            status = known
        } else {
            guard let who = document[member: "who"], let on = document[member: "on"] else { return nil }
            for place in 0..<who.count {
                guard let coordinator = who[place].flatMap({ Coordinator($0, startOfJourney: startedAt) }) else {
                    return nil
                }
                coordinators.append(coordinator)
            }
            frames.reserveCapacity(on.count)
            for place in 0..<on.count {
                guard let frame = on[place].flatMap({ Frame($0, at: place) }) else { return nil }
                frames.append(frame)
            }
            for service in document[member: "own"]?.elements ?? [] {
                guard let service = OwnedService(service, startOfJourney: startedAt) else { return nil }
                owned.append(service)
            }
            flow = coordinators.first?.flow
            version = coordinators.first?.version
            if let written = document[member: "task"] {
                guard let pending = PendingTask(written) else { return nil }
                task = pending
            }
        }
        guard let flow, let version else { return nil }
        self.init(
            id: id, status: status, step: UInt64(step), frames: frames, coordinators: coordinators, flow: flow,
            version: version, outcome: document[member: "outcome"]?.string, output: document[member: "output"],
            startedAt: startedAt, movedAt: movedAt, enteredAt: enteredAt, expiresAt: expiresAt, dueAt: dueAt,
            task: task, owned: owned, isOfUser: document[member: "user"]?.int == 1)
    }
}

extension PendingTask {
    fileprivate convenience init?(_ document: JSONDocument) {
        guard let number = document[0]?.int, number > 0, let name = document[1]?.string, let input = document[2] else {
            return nil
        }
        self.init(number: UInt64(number), name: name, input: input)
    }
}

extension OwnedService {
    fileprivate init?(_ document: JSONDocument, startOfJourney: Int64) {
        guard let coordinator = document[0]?.int, let name = document[1]?.string,
            let revision = document[2]?.int, revision >= 0, let state = document[5]
        else { return nil }
        self.init(
            coordinator: coordinator, name: name, revision: UInt64(revision),
            createdAt: startOfJourney &+ Int64(document[3]?.int ?? 0),
            updatedAt: startOfJourney &+ Int64(document[4]?.int ?? 0), document: state)
    }
}

extension Coordinator {
    fileprivate init?(_ document: JSONDocument, startOfJourney: Int64) {
        guard let flow = document[0]?.string, let version = document[1]?.int else { return nil }
        self.init(
            id: document[4]?.int ?? 0, flow: flow, version: version, parent: document[5]?.int,
            startedBy: document[6]?.string, input: document[2] ?? .emptyObject,
            startedAt: startOfJourney &+ Int64(document[3]?.int ?? 0))
    }
}

extension Frame {
    fileprivate init?(_ document: JSONDocument, at place: Int) {
        let usual: Frame.Presentation = place == 0 ? .root : .push
        if let state = document.string {
            self.init(coordinator: 0, state: state, presentation: usual)
            return
        }
        guard let state = document[0]?.string, let coordinator = document[1]?.int else { return nil }
        let presentation = document[2]?.string.map { Presentation(rawValue: $0) } ?? usual
        let mark = document[3]?.int.map { Mark(rawValue: $0) } ?? Mark.none
        guard let presentation, let mark else { return nil }
        self.init(
            coordinator: coordinator, state: state, presentation: presentation, mark: mark, params: document[4])
    }
}
