import JSONDocument
import Sessions

extension JSONWriter {
    /// A session as clients see it.
    mutating func session(_ session: SessionSummary) {
        let isPlain = session.userID == nil && session.labels.isEmpty
        SessionText.template.withCopy(for: session, isPlain: isPlain) { raw($0) }
        if !isPlain {
            name("user_id")
            if let user = session.userID { string(user) } else { null() }
            name("labels")
            beginObject()
            for label in session.labels.items {
                name(label.name)
                string(label.value)
            }
            endObject()
        }
        name("revision")
        uint(session.revision)
        endObject()
    }

    /// The member with a new token.
    mutating func token(_ token: SessionToken) {
        name("token")
        plain(length: SessionToken.length) { token.write(into: $0) }
    }

    /// One line of a session's list of services.
    ///
    /// - Parameter owner: `session`, or the flow of the coordinator that owns it; nil to leave that out.
    mutating func service(_ service: ServiceStatus, owner: String? = nil) {
        beginObject()
        name("name")
        string(service.name)
        name("kind")
        string(service.kind)
        name("scope")
        string(service.scope.rawValue)
        name("status")
        string(service.isLive ? "live" : "registered")
        name("etag")
        string(service.etag.description)
        if let owner {
            name("owner")
            string(owner)
        }
        if let time = service.createdAt {
            name("created_at")
            self.time(time)
        }
        if let time = service.updatedAt {
            name("updated_at")
            self.time(time)
        }
        if let time = service.expiresAt {
            name("expires_at")
            self.time(time)
        }
        array("commands") { json in
            for command in service.commands { json.string(command) }
        }
        endObject()
    }

    mutating func time(_ time: Timestamp) {
        plain(length: Timestamp.length) { time.write(into: $0) }
    }

    /// A string that needs no escaping.
    private mutating func plain(length: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: length + 2, alignment: 1) { quoted in
            quoted[0] = UInt8(ascii: "\"")
            write(UnsafeMutableRawBufferPointer(rebasing: quoted[1...length]))
            quoted[length + 1] = UInt8(ascii: "\"")
            raw(UnsafeRawBufferPointer(quoted))
        }
    }
}
