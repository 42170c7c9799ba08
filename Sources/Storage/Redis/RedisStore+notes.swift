import Sessions

extension RedisStore: SharedNotes {
    package func note(_ note: [UInt8], of key: SHA256Digest, for time: Int64) async throws(SessionError) -> [UInt8]? {
        do throws(StoreError) {
            try gate.enter()
            defer { gate.leave() }
            // When it is sent twice, the second one finds the first, which has the same mark.
            var request = RedisRequest()
            request.needsReplicas = true
            request.call(.find, keys.note(key), .bytes(note), .text(String(time)))
            let found = try await ask(request)[0].bytes
            return found == note ? nil : found
        } catch {
            throw SessionError(error)
        }
    }

    package func replace(_ key: SHA256Digest, with note: [UInt8], for time: Int64) {
        change(key, Array(note.prefix(SharedNoteMark.length)), note, time)
    }

    package func drop(_ key: SHA256Digest, of mark: [UInt8]) { change(key, mark, [], 0) }

    private func change(_ key: SHA256Digest, _ mark: [UInt8], _ note: [UInt8], _ time: Int64) {
        var request = RedisRequest()
        request.needsReplicas = !note.isEmpty
        request.call(.note, keys.note(key), .bytes(mark), .bytes(note), .text(String(time)))
        owed.add(request, of: key)
    }
}
