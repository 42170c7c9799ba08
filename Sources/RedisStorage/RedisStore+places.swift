import Sessions

/// The index of journeys is in one place of a cluster. A script keeps it in step with itself; what it says of a session
/// may be of a moment ago. Sessions are in so many parts that Redis packs each into one piece of memory
/// (`hash-max-listpack-entries`), at some 30 bytes a session.
extension RedisStore: JourneyIndex {
    package var journeyIndex: any JourneyIndex { self }

    /// So many that Redis packs the parts of two million sessions.
    static let placeParts: UInt64 = 16_384

    package func place(_ sessions: [PlacedSession]) async throws(StoreError) -> [SessionID] {
        var request = RedisRequest()
        for session in sessions { place(session, &request) }
        request.beginStage()
        for session in sessions { request.add("HGET", .text(keys.session(session.id)), "r") }
        var removal = RedisRequest()
        for (session, revision) in zip(sessions, try await ask(request).suffix(sessions.count))
        where revision.text == nil && !session.places.isEmpty {
            // It has ended meanwhile.
            place(PlacedSession(session.id, revision: .max, places: []), &removal)
        }
        _ = try await ask(removal)
        return []
    }

    func place(_ session: PlacedSession, _ request: inout RedisRequest) {
        var words = RedisRequest.Arguments([
            .text(Self.placePart(of: session.id)), .bytes(session.id.bytes), .text(String(session.revision)),
        ])
        for place in session.places { words.add(.text(place.text)) }
        request.call(.place, .text(keys.places), words)
    }

    private static func placePart(of id: SessionID) -> String { String(id.low % placeParts) }

    package func journeyCounts() async throws(StoreError) -> [JourneyPlace: Int] {
        let places = try await ask(RedisRequest("HGETALL", .text(keys.places)))[0].pairs.compactMap { name, number in
            JourneyPlace(text: name).map { (place: $0, number: number.text ?? "") }
        }
        return Dictionary(
            uniqueKeysWithValues: zip(places.map(\.place), try await counts(of: places.map(\.number)))
                .filter { $0.1 > 0 })
    }

    private func counts(of numbers: [String]) async throws(StoreError) -> [Int] {
        var request = RedisRequest()
        for number in numbers { request.add("HGET", .text(keys.parts(ofPlace: number)), "") }
        return try await ask(request).map { Int($0.number ?? 0) }
    }

    /// The order is that of parts, then that of ids.
    package func sessions(
        at places: [JourneyPlace], from id: SessionID?, limit: Int
    ) async throws(StoreError) -> [SessionID] {
        guard !places.isEmpty else { return [] }
        var question = RedisRequest()
        question.add(["HMGET", .text(keys.places)] + places.map { .text($0.text) })
        let known = try await ask(question)[0].list.compactMap(\.text)
        let count = try await counts(of: known).reduce(0, +)
        let numbers = Set(known)
        let first = id.map { $0.low % Self.placeParts } ?? 0
        // Where most parts have some of them, to ask which would take longer than to look.
        let isCommon = count >= Int(Self.placeParts) / 2
        let parts =
            if isCommon { Array(first..<Self.placeParts) } else {
                try await self.parts(of: known).filter { $0 >= first }
            }
        var (found, rest) = ([SessionID](), parts[...])
        while found.count < limit, !rest.isEmpty {
            let expected = isCommon ? (limit - found.count) * Int(Self.placeParts) / count + 1 : limit - found.count
            let next = rest.prefix(min(expected, Self.partsAtOnce))
            var request = RedisRequest()
            for part in next { request.add("HGETALL", .text(keys.sessions(inPart: String(part)))) }
            for reply in try await ask(request) {
                found += reply.sessions(at: numbers).filter { session in
                    id.map { session.low % Self.placeParts != first || session >= $0 } ?? true
                }.sorted()
            }
            rest = rest.dropFirst(next.count)
        }
        return Array(found.prefix(limit))
    }

    /// So many that no other request waits long.
    private static let partsAtOnce = 256

    private func parts(of numbers: [String]) async throws(StoreError) -> [UInt64] {
        var request = RedisRequest()
        for number in numbers { request.add("HKEYS", .text(keys.parts(ofPlace: number))) }
        return Set(try await ask(request).flatMap(\.list).compactMap { $0.text.flatMap { UInt64($0) } }).sorted()
    }

    /// Tells of sessions of which the index has another revision.
    func tellUnplaced(
        _ sessions: [(id: SessionID, revision: String)], _ tell: (SessionID) -> Void
    ) async throws(StoreError) {
        var request = RedisRequest()
        for session in sessions {
            request.add(
                "HGET", .text(keys.sessions(inPart: Self.placePart(of: session.id))), .bytes(session.id.bytes))
        }
        var missing: [SessionID] = []
        for (session, placed) in zip(sessions, try await ask(request)) {
            guard let placed = placed.text else {
                missing.append(session.id)
                continue
            }
            if placed.prefix(while: { $0 != " " }) != session.revision { tell(session.id) }
        }
        for id in try await haveJourneys(missing) { tell(id) }
    }
}

extension RedisReply {
    /// The sessions of a part with journeys at places of these numbers.
    fileprivate func sessions(at numbers: Set<String>) -> [SessionID] {
        stride(from: 0, to: list.count - 1, by: 2).compactMap { place in
            let isThere = list[place + 1].text?.split(separator: " ").dropFirst().contains {
                numbers.contains(String($0))
            }
            return isThere == true ? list[place].bytes.flatMap { SessionID(bytes: $0) } : nil
        }
    }
}
