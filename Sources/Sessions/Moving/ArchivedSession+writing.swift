import JSONDocument

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
        json.name("session")
        json.string(record.id.description)
        json.name("cursor")
        json.string(SessionCursor(id: record.id).text)
        json.name("token")
        json.string(Hexadecimal.text(record.token.bytes))
        json.name("mode")
        json.string(details.mode.rawValue)
        time("created_at", record.createdAt)
        time("used_at", stored.lastUsedAt)
        time("expires_at", record.expiresAt)
        json.name("revision")
        json.uint(record.revision)
        if details.revisionFloor > 0 {
            json.name("revision_floor")
            json.uint(details.revisionFloor)
        }
        if let userID = details.userID {
            json.name("user_id")
            json.string(userID)
        }
        if !details.labels.isEmpty {
            json.name("labels")
            json.beginObject()
            for label in details.labels.items {
                json.name(label.name)
                json.string(label.value)
            }
            json.endObject()
        }
        if !details.retiredTokens.isEmpty {
            json.name("retired_tokens")
            json.beginArray()
            for token in details.retiredTokens {
                json.beginObject()
                json.name("token")
                json.string(Hexadecimal.text(token.digest.bytes))
                time("given_at", token.givenAt)
                time("retired_at", token.retiredAt)
                time("grace_ends_at", token.graceEndsAt)
                json.endObject()
            }
            json.endArray()
        }
        json.services(of: record, environment)
        return ArchiveLine.seal(json)
    }
}

extension JSONWriter {
    /// The written services of a session, or of the process.
    mutating func services(of record: SessionRecord, _ environment: SessionEnvironment) {
        name("services")
        beginArray()
        // The end of the archive counts those that are left out.
        for document in record.services where !document.isDamaged {
            let service = environment.catalog.services[Int(document.service)]
            guard service.scope == record.scope else { continue }
            beginObject()
            name("name")
            string(service.name)
            name("birth")
            uint(document.birth)
            name("revision")
            uint(document.revision)
            for (member, time) in [("created_at", document.createdAt), ("updated_at", document.updatedAt)] {
                name(member)
                string(environment.timestamp(time).description)
            }
            name("document")
            string(String(decoding: document.bytes, as: UTF8.self))
            endObject()
        }
        endArray()
    }
}
