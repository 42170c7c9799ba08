import JSONDocument
import Navigation
import ServiceLocator

/// A session that was read from a line of an archive and is valid in this installation.
package struct ArchivedSession: Sendable {
    let stored: StoredSession
    /// Versions of flows that its journeys run.
    let flows: [UsedFlow]
    let cursor: String

    var id: SessionID { stored.record.id }

    /// All problems of a line.
    struct Refusal: Error {
        let problems: [ArchiveProblem]
    }

    /// - Throws: ``Refusal``.
    init(_ document: JSONDocument, _ environment: SessionEnvironment) throws(Refusal) {
        let now = environment.clock.now()
        var line = ArchiveMembers(document, now: now, offset: environment.clock.wall(at: now) - now)
        _ = line.member("sum")
        let id = SessionID(line.string("session"))
        if id == nil || id == SessionID.process { line.refuse("session", "must be the id of a session") }
        cursor = line.string("cursor")
        if let id, cursor != SessionCursor(id: id).text { line.refuse("cursor", "must be the session's cursor") }
        let token = line.digest("token")
        let mode = SessionMode(rawValue: line.string("mode"))
        if mode == nil { line.refuse("mode", "must be bearer or cookie") }
        let createdAt = line.pastTime("created_at")
        let usedAt = line.pastTime("used_at")
        // It does not live longer than a session that is created here.
        let expiresAt = min(line.time("expires_at"), now + environment.settings.longestLifetime)
        if expiresAt <= createdAt { line.refuse("expires_at", "must be later than created_at") }
        let revision = line.number("revision")
        if revision == 0 { line.refuse("revision", "must be a positive integer") }
        let floor = line.optionalNumber("revision_floor")
        let labels = Self.labels(&line, environment.settings)
        let retired = Self.retiredTokens(&line)
        let exchange = Self.exchange(&line)
        let idleTimeout = Self.idleTimeout(&line, environment.settings)
        let services = Self.services(&line, of: .session, revision: revision, environment)
        let userID = Self.user(&line, services, environment)
        let flows = Self.flows(&line, services, environment)
        let problems = line.finish()
        guard problems.isEmpty, let id, let mode else { throw Refusal(problems: problems) }
        let record = SessionRecord(
            id: id, token: token, createdAt: createdAt, expiresAt: expiresAt, revision: revision, services: services,
            details: SessionDetails(
                labels: labels, userID: userID, retiredTokens: retired, mode: mode, revisionFloor: floor,
                exchange: exchange, idleTimeout: idleTimeout))
        let times = environment.times(of: StoredSession(record: record, lastUsedAt: usedAt))
        stored = StoredSession(record: record.with(times), lastUsedAt: usedAt)
        self.flows = flows
    }

    private static func labels(_ line: inout ArchiveMembers, _ settings: SessionSettings) -> SessionLabels {
        guard let labels = line.member("labels") else { return .none }
        do {
            return try SessionLabels.none.merging(labels, settings)
        } catch .invalid(let errors) {
            line.refuse(errors.map { ArchiveProblem(pointer: $0.pointer, detail: $0.detail) })
        } catch {
            line.refuse("labels", error.description)
        }
        return .none
    }

    private static func retiredTokens(_ line: inout ArchiveMembers) -> [RetiredToken] {
        let tokens = line.objects("retired_tokens") { token in
            let digest = token.digest("token")
            let (given, retired) = (token.pastTime("given_at"), token.pastTime("retired_at"))
            let end = token.time("grace_ends_at")
            if given > retired || retired > end { token.refuse("retired_at", "must be between the other two times") }
            return RetiredToken(digest: digest, givenAt: given, retiredAt: retired, grace: end - retired)
        }
        if tokens.count > RetiredToken.most {
            line.refuse("retired_tokens", "must have at most \(RetiredToken.most) elements")
        }
        return tokens
    }

    /// In milliseconds, as far as one may be chosen here.
    private static func idleTimeout(_ line: inout ArchiveMembers, _ settings: SessionSettings) -> Int64? {
        let timeout = Int64(clamping: line.optionalNumber("idle_timeout"))
        return timeout == 0 ? nil : min(timeout, settings.longestIdleTimeout)
    }

    /// A list of one at most.
    private static func exchange(_ line: inout ArchiveMembers) -> TokenExchange? {
        let exchanges = line.objects("exchanges") { exchange in
            let former = exchange.digest("token")
            let challenge = exchange.member("challenge") == nil ? nil : exchange.digest("challenge")
            return TokenExchange(
                former: former, challenge: challenge.flatMap { CodeChallenge(bytes: $0.bytes) },
                isByCookie: exchange.number("cookie") == 1, endsAt: exchange.time("ends_at"),
                isDone: exchange.number("done") == 1)
        }
        if exchanges.count > 1 { line.refuse("exchanges", "must have at most 1 element") }
        return exchanges.first
    }

    /// - Parameter scope: whose services they are.
    static func services(
        _ line: inout ArchiveMembers, of scope: ServiceScope, revision: UInt64, _ environment: SessionEnvironment
    ) -> [ServiceDocument] {
        var seen: Set<UInt16> = []
        let services = line.objects("services", isRequired: true) { member -> ServiceDocument? in
            let name = member.string("name")
            let (birth, written) = (member.number("birth"), member.number("revision"))
            let (createdAt, updatedAt) = (member.pastTime("created_at"), member.pastTime("updated_at"))
            let text = member.string("document")
            if written == 0 || written > revision {
                member.refuse("revision", "must be from 1 to the session's revision")
            }
            guard let service = environment.definitions.catalog[name] else {
                member.refuse("name", "there is no service '\(ArchiveMembers.clipped(name))' here")
                return nil
            }
            guard service.scope == scope else {
                member.refuse(
                    "name", "is here a service of \(service.scope == .process ? "the process" : "each session")")
                return nil
            }
            guard seen.insert(service.index).inserted else {
                member.refuse("name", "occurs twice")
                return nil
            }
            guard let bytes = checked(text, service, &member, environment) else { return nil }
            return ServiceDocument(
                service: service.index, birth: birth, revision: written, createdAt: createdAt, updatedAt: updatedAt,
                bytes: bytes)
        }
        if Set(services.map(\.birth)).count < services.count {
            line.refuse("services", "must have different values of birth")
        }
        let (size, limit) = (services.reduce(0) { $0 + $1.bytes.count }, environment.settings.maxSessionSize)
        if size > limit { line.refuse("services", "must have at most \(limit) bytes together, not \(size)") }
        return services.sorted { $0.birth < $1.birth }
    }

    /// Checks the document like a client's write.
    private static func checked(
        _ text: String, _ service: RegisteredService, _ member: inout ArchiveMembers, _ environment: SessionEnvironment
    ) -> [UInt8]? {
        do {
            let document = try JSONDocument(parsing: Array(text.utf8))
            return try service.bytes(of: document, limit: environment.settings.maxSize(of: service))
        } catch let error as JSONParseError {
            member.refuse("document", error.description)
        } catch SessionError.invalid(let errors) {
            member.refuse(
                errors.map { ArchiveProblem(pointer: member.place("document") + $0.pointer, detail: $0.detail) })
        } catch {
            member.refuse("document", "\(error)")
        }
        return nil
    }

    /// The session's user and the state of its service `user` must agree.
    private static func user(
        _ line: inout ArchiveMembers, _ services: [ServiceDocument], _ environment: SessionEnvironment
    ) -> String? {
        let userID = line.member("user_id")
        let service = environment.definitions.catalog[UserService.name]
        let state = service.flatMap { service in services.first { $0.service == service.index } }
            .flatMap { try? JSONDocument(parsing: $0.bytes) }
        let named = state?[member: "authenticated"]?.bool == true ? state?[member: "id"]?.string : nil
        if userID?.string != named || (userID != nil && userID?.string == nil) {
            line.refuse("user_id", "must be the user that service 'user' names")
        }
        if let named, !(1...environment.settings.maxUserID).contains(named.utf8.count) {
            line.refuse("user_id", "must have 1 to \(environment.settings.maxUserID) bytes")
        }
        return named
    }

    private static func flows(
        _ line: inout ArchiveMembers, _ services: [ServiceDocument], _ environment: SessionEnvironment
    ) -> [UsedFlow] {
        guard let coordinator = environment.definitions.catalog[CoordinatorService.name],
            let document = services.first(where: { $0.service == coordinator.index })
        else { return [] }
        let place = line.member("services")?.elements?.firstIndex { $0[member: "name"]?.string == coordinator.name }
        func refuse(_ pointer: String, _ detail: String) {
            let document = "\(line.place("services"))/\(place ?? 0)/document"
            line.refuse([ArchiveProblem(pointer: document + pointer, detail: detail)])
        }
        do {
            let kept = try KeptJourneys(reading: document.bytes)
            for (place, journey) in kept.journeys.enumerated() {
                if !JourneyID.isOne(journey.id) {
                    refuse("/journeys/\(place)/id", "must be the id of a journey")
                } else if kept.place(of: journey.id) != place {
                    refuse("/journeys/\(place)/id", "occurs twice")
                }
                if let flaw = environment.definitions.journeys.engine.flaw(of: journey) {
                    refuse("/journeys/\(place)" + flaw.pointer, flaw.detail)
                }
                for (index, service) in journey.owned.enumerated() {
                    let violations = environment.definitions.catalog[service.name]?.fit(service.document).violations
                    if violations?.isEmpty != true {
                        refuse("/journeys/\(place)/own/\(index)", "must be the state of a service that is there")
                    }
                }
            }
            if kept.largestStep > ArchiveMembers.largest {
                refuse("", "must have journeys with steps of at most \(ArchiveMembers.largest)")
            }
            if kept.entries.count > environment.definitions.journeys.maxJourneys + 1 {
                refuse("/journeys", "must have at most \(environment.definitions.journeys.maxJourneys) elements")
            }
            return environment.usedFlows(of: kept, by: environment.definitions)
        } catch {
            refuse("", "has journeys that cannot be read, from byte \(error.offset) on")
            return []
        }
    }
}

extension ArchivedSession {
    /// A session as a line of an archive.
    ///
    /// Documents are strings in the line, not parts of it: so their bytes are preserved, and they may be nested as deep
    /// as a document can be.
    static func line(_ stored: StoredSession, _ environment: SessionEnvironment) -> [UInt8] {
        let record = stored.record
        let details = record.details
        var json = JSONWriter(reservingCapacity: 512 + record.services.reduce(0) { $0 + 200 + $1.bytes.count * 5 / 4 })
        func time(_ name: StaticString, _ steady: Int64) {
            json.name(name)
            json.string(environment.timestamp(steady).description)
        }
        json.beginObject()
        json.member("session", record.id.description)
        json.member("cursor", SessionCursor(id: record.id).text)
        json.member("token", Hexadecimal.text(record.token.bytes))
        json.member("mode", details.mode.rawValue)
        time("created_at", record.createdAt)
        time("used_at", stored.lastUsedAt)
        time("expires_at", record.expiresAt)
        json.member("revision", record.revision)
        if details.revisionFloor > 0 { json.member("revision_floor", details.revisionFloor) }
        if let timeout = details.idleTimeout { json.member("idle_timeout", UInt64(clamping: timeout)) }
        if let userID = details.userID { json.member("user_id", userID) }
        if !details.labels.isEmpty {
            json.object("labels") { json in
                for label in details.labels.items {
                    json.name(label.name)
                    json.string(label.value)
                }
            }
        }
        if !details.retiredTokens.isEmpty {
            json.name("retired_tokens")
            json.beginArray()
            for token in details.retiredTokens {
                json.beginObject()
                json.member("token", Hexadecimal.text(token.digest.bytes))
                time("given_at", token.givenAt)
                time("retired_at", token.retiredAt)
                time("grace_ends_at", token.graceEndsAt)
                json.endObject()
            }
            json.endArray()
        }
        if let exchange = details.exchange, exchange.endsAt > environment.clock.now() {
            json.name("exchanges")
            json.beginArray()
            json.beginObject()
            json.member("token", Hexadecimal.text(exchange.former.bytes))
            if let challenge = exchange.challenge { json.member("challenge", Hexadecimal.text(challenge.digest.bytes)) }
            time("ends_at", exchange.endsAt)
            json.member("cookie", exchange.isByCookie ? 1 : 0)
            json.member("done", exchange.isDone ? 1 : 0)
            json.endObject()
            json.endArray()
        }
        json.services(of: record, environment)
        return ArchiveLine.seal(json)
    }
}

extension JSONWriter {
    /// The written services of a session, or of the process.
    mutating func services(of record: SessionRecord, _ environment: SessionEnvironment) {
        let catalog = environment.definitions.catalog
        array("services") { json in
            // The end of the archive counts those that are left out.
            for document in record.services where !document.isDamaged {
                let service = catalog[document.service]
                guard service.isDeclared, service.scope == record.scope else { continue }
                json.beginObject()
                json.member("name", service.name)
                json.member("birth", document.birth)
                json.member("revision", document.revision)
                json.member("created_at", environment.timestamp(document.createdAt).description)
                json.member("updated_at", environment.timestamp(document.updatedAt).description)
                json.member("document", String(decoding: document.bytes, as: UTF8.self))
                json.endObject()
            }
        }
    }
}
