import Sessions

extension RedisStore: SharedNotes {
    package func note(_ note: [UInt8], of key: SHA256Digest, for time: Int64) async throws(SessionError) -> [UInt8]? {
        do throws(StoreError) {
            try gate.enter()
            defer { gate.leave() }
            let request = RedisRequest(
                "SET", .text(keys.note(key)), .bytes(note), "NX", "GET", "PX", .text(String(time)))
            return try await ask(request)[0].bytes
        } catch {
            throw SessionError(error)
        }
    }

    package func replace(_ key: SHA256Digest, with note: [UInt8], for time: Int64) {
        send(RedisRequest("SET", .text(keys.note(key)), .bytes(note), "PX", .text(String(time))))
    }

    package func drop(_ key: SHA256Digest) { send(RedisRequest("DEL", .text(keys.note(key)))) }
}
