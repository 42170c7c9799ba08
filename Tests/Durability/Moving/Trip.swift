import HTTPTestClient
import JSONDocument
import Support

/// The journeys of these tests: each may move, and takes along a log of what has happened to it.
enum Trip {
    static let files = [
        "services/log.json": """
        {"name": "log", "schema": {"type": "object"}, "default": {"name": 0, "last": 0, "notes": [], "begun": [],
          "done": [], "waits": [], "reminded": [], "rung": []}}
        """,
        "flows/trip.json": """
        {"id": "trip", "version": 1, "initial": "ready", "portable": true, "owns": ["log"], "states": {
           "ready": {"on": {
             "name": {"actions": [{"op": "replace", "path": "/log/name", "value": {"$from": "/event/n"}}]},
             "notes": {"actions": [{"op": "add", "path": "/log/notes/-", "value": {"$from": "/event/n"}}]},
             "begun": {"target": "busy", "nav": "set_root", "actions": [
               {"op": "add", "path": "/log/begun/-", "value": {"$from": "/event/n"}}]},
             "waits": {"target": "waiting", "nav": "set_root", "actions": [
               {"op": "add", "path": "/log/waits/-", "value": {"$from": "/event/n"}},
               {"op": "replace", "path": "/log/last", "value": {"$from": "/event/n"}}]}}},
           "busy": {"type": "task", "task": "work", "input": {"n": {"$from": "/event/n"}},
             "retry": {"attempts": 1000, "after": "1ms"},
             "on": {"done": {"target": "ready", "nav": "set_root", "actions": [
               {"op": "add", "path": "/log/done/-", "value": {"$from": "/output"}}]}}},
           "waiting": {
             "timers": [{"after": "60ms", "actions": [
               {"op": "add", "path": "/log/reminded/-", "value": {"$from": "/log/last"}}]}],
             "timeout": {"after": "150ms", "target": "ready", "nav": "set_root", "actions": [
               {"op": "add", "path": "/log/rung/-", "value": {"$from": "/log/last"}}]}}}}
        """,
    ]

    /// Few enough for some moves to find no room.
    static let mostJourneysOfSession = 3

    static func arguments(in folder: String, store: String) -> [String] {
        [
            "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--workers", "2", "--store", store,
            "--services", "\(folder)/services", "--flows", "\(folder)/flows", "--set", "log.requests=false",
            "--set", "durability=commit", "--set", "journeys.max=\(mostJourneysOfSession)",
        ]
    }

    /// What a client has its journey do. Each is an event, and writes a number into the list of that name.
    enum Step: String, CaseIterable, Sendable { case notes, begun, waits }

    /// A session in which journeys are.
    struct Home: Sendable {
        let id: String
        let token: String
        /// Whether the user is signed in whose journeys can be taken over.
        let isOfUser: Bool
    }

    struct Place: Hashable, Sendable {
        /// The number of the session.
        let home: Int
        /// What the journey is called there.
        let journey: String

        var path: String { "\(Trip.journeys)/\(journey)" }
    }

    typealias Ports = (publicPort: UInt16, adminPort: UInt16)

    static let journeys = "/v1/sessions/current/journeys"

    /// A request for a move.
    struct Move: Sendable {
        /// Nil takes the journey over for the user.
        let link: String?
        let from: Place
        /// The number of the session into which the journey moves.
        let target: Int

        func body(_ homes: [Home]) -> String {
            if let link { return #"{"link":"\#(link)"}"# }
            return #"{"take":{"session":"\#(homes[from.home].id)","journey":"\#(from.journey)"}}"#
        }
    }

    /// A journey, and what its client knows.
    struct Known: Sendable {
        let number: Int
        var place: Place
        /// Where it was in this round.
        var left: [Place] = []
        /// Moves from here that got no response. One that a store took while a server or Redis was killed may come later.
        var open: [Move] = []
        /// The numbers of acknowledged steps.
        var acknowledged: [Step: Set<Int>] = [:]

        var story: String { "journey \(number) at \(place)" }
    }

    /// Sends one request over a connection of its own.
    static func send(
        _ method: String, _ path: String, _ json: String? = nil, token: String? = nil, to port: UInt16
    ) throws -> TestResponse {
        try sendOnly(method, path, json, token: token, to: port).readResponse()
    }

    static func sendOnly(
        _ method: String, _ path: String, _ json: String? = nil, token: String? = nil, to port: UInt16
    ) throws -> RawConnection {
        let client = token.map { TestClient(port: port).with(token: $0) } ?? TestClient(port: port)
        let connection = try RawConnection(port: port, timeoutSeconds: 30)
        try connection.send(client.request(method, path, json: json))
        return connection
    }
}

/// Makes sessions and journeys, on a server that nobody kills meanwhile.
extension Trip {
    /// Two of three sessions are the user's.
    static func homes(_ count: Int, at ports: Ports) throws -> [Home] {
        try (0..<count).map { number in
            let created = try send("POST", "/v1/sessions", to: ports.publicPort)
            guard let id = created[member: "session"]?[string: "id"], let token = created[member: "token"]?.string
            else { throw Torture.Violation(description: "no session: \(created.text)") }
            guard number % 3 != 2 else { return Home(id: id, token: token, isOfUser: false) }
            let signed = try send("PUT", "/v1/sessions/\(id)/user", #"{"user_id":"ada"}"#, to: ports.adminPort)
            guard let token = signed[member: "token"]?.string else {
                throw Torture.Violation(description: "no user: \(signed.text)")
            }
            return Home(id: id, token: token, isOfUser: true)
        }
    }

    static func newJourney(_ number: Int, in home: Int, of homes: [Home], at port: UInt16) throws -> Known {
        let token = homes[home].token
        let made = try send("POST", journeys, #"{"flow":"trip"}"#, token: token, to: port)
        guard let id = made[member: "id"]?.string else {
            throw Torture.Violation(description: "no journey: \(made.text)")
        }
        let known = Known(number: number, place: Place(home: home, journey: id))
        let named = try send(
            "POST", "\(known.place.path)/events", #"{"event":"name","data":{"n":\#(number)}}"#, token: token, to: port)
        guard named.status == 200 else { throw Torture.Violation(description: "no name: \(named.text)") }
        return known
    }

    static func link(to known: Known, of homes: [Home], at port: UInt16) throws -> TestResponse {
        try send("POST", "\(known.place.path)/links", token: homes[known.place.home].token, to: port)
    }
}
