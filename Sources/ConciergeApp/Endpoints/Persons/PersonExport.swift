import API
import JSONDocument
import Navigation
import Sessions

/// Writes a person's export piece by piece: a session may have megabytes, and a person hundreds of sessions.
actor PersonExport {
    private let person: Person
    private let user: String
    private let sessions: Sessions
    private let basePath: String
    private var part = Part.beginning

    private enum Part {
        case beginning
        /// Further sessions, of which the first stands at that place; whether one was written.
        case sessions(Int, isFirst: Bool)
        case nothing
    }

    /// - Parameter basePath: what stands before the path of an address.
    init(of person: Person, _ user: String, in sessions: Sessions, under basePath: String) {
        (self.person, self.user, self.sessions, self.basePath) = (person, user, sessions, basePath)
    }

    /// The next piece; nil at the end.
    ///
    /// - Throws: the store's error.
    func next() async throws -> [UInt8]? {
        switch part {
        case .nothing: return nil
        case .beginning:
            part = .sessions(0, isFirst: true)
            return beginning()
        case .sessions(let place, let isFirst):
            for next in place..<person.sessions.count {
                // It may have ended since.
                guard let session = try await sessions.content(of: person.sessions[next], ofUser: user) else {
                    continue
                }
                part = .sessions(next + 1, isFirst: false)
                return (isFirst ? [] : [UInt8(ascii: ",")]) + text(of: session)
            }
            part = .nothing
            return Array("]}".utf8)
        }
    }

    private func beginning() -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        json.member("user_id", user)
        json.array("notices") { json in
            for notice in person.notices {
                json.beginObject()
                json.member("id", notice.task.id.description)
                json.member("task", notice.task.name)
                json.member("session", notice.task.id.session.description)
                json.member("input", notice.input)
                json.endObject()
            }
        }
        json.array("tasks") { write(person.tasks, to: &$0) }
        json.array("damaged_sessions") { json in
            for id in person.damaged { json.string(id.description) }
        }
        json.name("sessions")
        json.beginArray()
        return json.bytes
    }

    private func text(of session: PersonalSession) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 1_024)
        json.object { json in
            json.name("session")
            json.session(session.summary)
            json.objects("services", session.services) { json, service in
                json.member("name", service.name)
                json.member("kind", service.status?.kind)
                if let etag = service.status?.etag { json.member("etag", etag.description) }
                if let time = service.status?.createdAt { json.member("created_at", time) }
                if let time = service.status?.updatedAt { json.member("updated_at", time) }
                if let time = service.status?.expiresAt { json.member("expires_at", time) }
                json.name("document")
                if let document = service.document { json.raw(document) } else { json.null() }
            }
            json.objects("journeys", session.journeys) { write($1, to: &$0) }
            json.array("tasks") { write(session.tasks, to: &$0) }
        }
        return json.bytes
    }

    private func write(_ journey: Journey, to json: inout JSONWriter) {
        func flow(of coordinator: Int) -> String { journey.coordinator(coordinator)?.flow ?? journey.flow }
        json.member("id", journey.id)
        json.member("flow", journey.flow)
        json.member("version", journey.version)
        json.member("status", journey.status.rawValue)
        json.member("step", journey.step)
        json.member("started_at", sessions.timestamp(journey.startedAt))
        json.member("moved_at", sessions.timestamp(journey.movedAt))
        if let time = journey.expiresAt { json.member("expires_at", sessions.timestamp(time)) }
        json.member("input", journey.input)
        json.member("outcome", journey.outcome)
        json.member("output", journey.output ?? .null)
        if let message = journey.message { json.member("message", message.text) }
        json.objects("coordinators", journey.coordinators) { json, coordinator in
            json.member("flow", coordinator.flow)
            json.member("version", coordinator.version)
            json.member("input", coordinator.input)
        }
        json.objects("stack", journey.frames) { json, frame in
            json.member("flow", flow(of: frame.coordinator))
            json.member("screen", frame.state)
            if let params = frame.params { json.member("params", params) }
        }
        json.objects("services", journey.owned) { json, service in
            json.member("name", service.name)
            json.member("owner", flow(of: service.coordinator))
            json.member("document", service.document)
        }
    }

    private func write(_ tasks: [(task: StoredTask, details: TaskDetails)], to json: inout JSONWriter) {
        let now = sessions.now
        for (task, details) in tasks {
            json.listed(
                task, task.status(at: now), details, sessions.timestamp, under: basePath, showsInput: true)
        }
    }
}
