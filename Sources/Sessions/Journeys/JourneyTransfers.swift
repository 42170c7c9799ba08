import JSONDocument
import Navigation

/// A session's links, and its journeys that move to or from other sessions. Most sessions have none.
///
/// How a journey moves, and what a crash leaves, is in docs/decisions/a-journey-moves-in-two-commits.md.
struct JourneyTransfers: Sendable {
    /// A link that was given out.
    struct Link: Sendable {
        let journey: String
        let digest: SHA256Digest
        /// In steady time.
        let expiresAt: Int64
    }

    /// A journey that has left.
    struct Departure: Sendable {
        /// What it was called here.
        let journey: String
        var target: SessionID
        /// What it is called there. No other journey ever is, so it tells whether the journey has arrived.
        let arrival: String
        /// Of the link by which it left, if it was one.
        let digest: SHA256Digest?
        /// Who takes it over, if it was not by a link: it goes to no session of somebody else.
        var userID: String?
        /// The journey, until the other session has it.
        var content: KeptJourney?
        /// Those to the journey, until the other session has it: if it returns, they are as good as before.
        var links: [Link] = []
        /// How far its task is: attempts, and the lease of a worker.
        var task: StoredTask?
        /// Until when a worker may report on its task by the name that it had here; nil if it waited for none. In
        /// steady time.
        var followedUntil: Int64?
    }

    /// A journey that arrived or was refused. Its mark keeps a late copy of the same move from being taken in again;
    /// the session remembers the last ones.
    struct Arrival: Sendable {
        let journey: String
        /// It was refused, and must not come any more.
        let isRefused: Bool
    }

    var links: [Link] = []
    var departures: [Departure] = []
    var arrivals: [Arrival] = []

    /// A person makes a link when it is needed.
    static let maximumLinks = 16
    /// Where journeys have gone is remembered of so many.
    private static let maximumDepartures = 32

    var isEmpty: Bool { links.isEmpty && departures.isEmpty && arrivals.isEmpty }

    func departure(of journey: String) -> Departure? { departures.last { $0.journey == journey } }

    var hasLinks: Bool { !links.isEmpty || departures.contains { !$0.links.isEmpty } }

    /// The user leaves. Forgets journeys that may return, and who has taken over those that have arrived.
    ///
    /// - Returns: whether there was one.
    mutating func forgetJourneys(_ isLeft: (Journey) -> Bool) -> Bool {
        var hasForgotten = false
        for place in departures.indices {
            if let journey = departures[place].content?.journey {
                guard isLeft(journey) else { continue }
                departures[place].complete()
            } else if departures[place].userID == nil {
                continue
            }
            departures[place].userID = nil
            hasForgotten = true
        }
        return hasForgotten
    }

    /// Also those of journeys that may return.
    mutating func forgetLinks() {
        links = []
        for place in departures.indices { departures[place].links = [] }
    }

    /// Beyond the limit the oldest goes. Those that workers need have a limit of their own.
    mutating func add(_ departure: Departure, now: Int64) {
        departures.append(departure)
        for isFollowed in [false, true] {
            func counts(_ departure: Departure) -> Bool { departure.isFollowed(at: now) == isFollowed }
            while departures.count(where: counts) > Self.maximumDepartures,
                let oldest = departures.firstIndex(where: { counts($0) && $0.content == nil })
            {
                departures.remove(at: oldest)
            }
        }
    }

    /// Where a task may be that has moved with its journey: `main` may have been begun anew, and have left again.
    ///
    /// - Throws: ``SessionError/contention`` while it is on its way.
    func places(ofMoved task: TaskID) throws(SessionError) -> [TaskID] {
        var places: [TaskID] = []
        for departure in departures.reversed() where departure.journey == task.journey {
            guard departure.content?.journey.task?.number != task.number else { throw .contention }
            places.append(TaskID(session: departure.target, journey: departure.arrival, number: task.number))
        }
        return places
    }

    /// What is left of it when its session, which has that id, is deleted: where tasks have gone that workers may still
    /// report on, and what has arrived, so that nobody takes it for lost. No data of a person.
    func remains(of session: SessionID, now: Int64) -> JourneyTransfers {
        var remains = JourneyTransfers()
        remains.departures = departures.compactMap { departure in
            guard departure.isFollowed(at: now), departure.target != session else { return nil }
            return Departure(
                journey: departure.journey, target: departure.target, arrival: departure.arrival, digest: nil,
                content: nil, followedUntil: departure.followedUntil)
        }
        remains.arrivals = arrivals
        return remains
    }
}

extension JourneyTransfers {
    mutating func add(_ arrival: Arrival) {
        arrivals.append(arrival)
        if arrivals.count > Self.maximumArrivals { arrivals.removeFirst() }
    }

    /// A copy that is brought so late that the mark is gone finds the journey itself, or where it has gone.
    private static let maximumArrivals = 64
}

/// The stored form: a member that most sessions do not have.
extension JourneyTransfers {
    var document: JSONDocument {
        let departures = departures.map { departure in
            JSONDocument(
                [
                    JSONDocument(departure.journey), JSONDocument(departure.target.description),
                    JSONDocument(departure.arrival), departure.digest.map { JSONDocument($0.text()) } ?? .null,
                    departure.content?.journey.document ?? .null, JSONDocument(departure.links.map(\.document)),
                    departure.task?.standing ?? .null, departure.userID.map { JSONDocument($0) } ?? .null,
                    departure.followedUntil.map { JSONDocument(Int($0)) } ?? .null,
                ])
        }
        let arrivals = arrivals.map { [JSONDocument($0.journey), JSONDocument($0.isRefused)] as JSONDocument }
        return [
            "links": JSONDocument(links.map(\.document)), "out": JSONDocument(departures), "in": JSONDocument(arrivals),
        ]
    }

    /// Nil for what is not of that form.
    init?(_ document: JSONDocument) {
        func read(_ value: JSONDocument?) -> [Link]? {
            let elements = value?.elements ?? []
            let links = elements.compactMap { Link($0) }
            return links.count == elements.count ? links : nil
        }
        guard let given = read(document[member: "links"]) else { return nil }
        self.links = given
        for departure in document[member: "out"]?.elements ?? [] {
            guard let journey = departure[0]?.string,
                let target = departure[1]?.string.flatMap({ SessionID($0) }),
                let arrival = departure[2]?.string, let links = read(departure[5])
            else { return nil }
            var content: KeptJourney?
            if let kept = departure[4], !kept.isNull {
                guard let journey = Journey(kept) else { return nil }
                content = KeptJourney(journey)
            }
            let task = content?.journey.task.flatMap { task in
                departure[6].flatMap {
                    let id = TaskID(session: target, journey: arrival, number: task.number)
                    return StoredTask(id: id, name: task.name, standing: $0)
                }
            }
            departures.append(
                Departure(
                    journey: journey, target: target, arrival: arrival, digest: SHA256Digest(departure[3]),
                    userID: departure[7]?.string, content: content, links: links, task: task,
                    followedUntil: departure[8]?.int.map { Int64($0) }))
        }
        for arrival in document[member: "in"]?.elements ?? [] {
            guard let journey = arrival[0]?.string, let isRefused = arrival[1]?.bool else { return nil }
            arrivals.append(Arrival(journey: journey, isRefused: isRefused))
        }
    }
}

extension JourneyTransfers.Departure {
    /// The journey does not return any more.
    mutating func complete() { (content, links, task) = (nil, [], nil) }

    func isFollowed(at now: Int64) -> Bool { followedUntil.map { $0 > now } ?? false }
}

extension JourneyTransfers.Link {
    /// `[journey, digest, end]`
    fileprivate var document: JSONDocument {
        [JSONDocument(journey), JSONDocument(digest.text()), JSONDocument(Int(expiresAt))]
    }

    fileprivate init?(_ document: JSONDocument) {
        guard let journey = document[0]?.string, let digest = SHA256Digest(document[1]), let end = document[2]?.int
        else { return nil }
        self.init(journey: journey, digest: digest, expiresAt: Int64(end))
    }
}

extension SHA256Digest {
    /// From its hexadecimal text.
    fileprivate init?(_ document: JSONDocument?) {
        guard let bytes = document?.string.flatMap(Hexadecimal.bytes) else { return nil }
        self.init(bytes: bytes)
    }
}

extension StoredTask {
    /// `[attempts, attempt, begin, due, claimed]`
    fileprivate var standing: JSONDocument {
        [
            JSONDocument(attempts), JSONDocument(attempt), JSONDocument(Int(createdAt)), JSONDocument(Int(due)),
            JSONDocument(isClaimed),
        ]
    }

    fileprivate init?(id: TaskID, name: String, standing: JSONDocument) {
        guard let attempts = standing[0]?.int, let attempt = standing[1]?.int, let createdAt = standing[2]?.int,
            let due = standing[3]?.int, let isClaimed = standing[4]?.bool
        else { return nil }
        self.init(
            id: id, name: name, attempts: attempts, createdAt: Int64(createdAt), attempt: attempt, due: Int64(due),
            isClaimed: isClaimed)
    }
}
