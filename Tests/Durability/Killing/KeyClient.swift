import Glibc
import HTTPTestClient
import JSONDocument
import SeededRandomness
import Support

/// A client of ``KeyTorture``: sends each request until it has a response, to any server, and some again afterwards.
struct KeyClient {
    private let fleet: KeyTorture.Fleet
    private var generator: SeededGenerator
    private var report = KeyTorture.Report()
    private var session = Known(token: "")
    /// Requests that have a response.
    private var former: [(request: Request, response: TestResponse)] = []

    /// What must be true of the session.
    private struct Known {
        var token: String
        var written: [Int] = []
        var journeys: Set<String> = []
        /// Requests since it was made.
        var age = 0
    }

    private struct Request {
        var method = "POST"
        let path: String
        let json: String?
        let key: String
        /// Nil for one that makes a session.
        let token: String?
        let status: Int
        var type = "application/json"
    }

    init(_ fleet: KeyTorture.Fleet, seed: UInt64) {
        self.fleet = fleet
        generator = SeededGenerator(seed: seed)
    }

    /// Returns when the servers end.
    mutating func run() throws -> KeyTorture.Report {
        try beginSession()
        while !fleet.isOver.load(ordering: .relaxed) {
            try step()
            if Int.random(in: 0..<3, using: &generator) == 0 { try repeatOne() }
            if session.age >= 300 {
                try check()
                try beginSession()
            }
        }
        try check()
        return report
    }

    private static let path = "/v1/sessions/current"

    private mutating func request(_ path: String, _ json: String?, status: Int, number: Int) -> Request {
        Request(path: path, json: json, key: "request-number-\(number)", token: session.token, status: status)
    }

    private mutating func step() throws {
        let number = fleet.number()
        session.age += 1
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<4:
            var patch = request(
                "\(Self.path)/services/log", #"[{"op":"add","path":"/list/-","value":\#(number)}]"#, status: 200,
                number: number)
            (patch.method, patch.type) = ("PATCH", "application/json-patch+json")
            try execute(patch)
            session.written.append(number)
        case 4..<8:
            try execute(
                request(
                    "\(Self.path)/transactions",
                    #"{"operations":[{"op":"patch","service":"log","value":[{"op":"add","path":"/list/-","value":\#(number)}]}]}"#,
                    status: 200, number: number))
            session.written.append(number)
        case 8..<17:
            try execute(
                request(
                    "\(Self.path)/journeys/main/events", #"{"event":"move","data":{"n":\#(number)}}"#, status: 200,
                    number: number))
            session.written.append(number)
        case 17, 18:
            let response = try execute(
                request("\(Self.path)/journeys", #"{"flow":"plain"}"#, status: 201, number: number))
            session.journeys.insert(response[member: "id"]?.string ?? "")
        default:
            let response = try execute(request("\(Self.path)/tokens", nil, status: 201, number: number))
            session.token = response[member: "token"]?.string ?? ""
        }
    }

    private mutating func beginSession() throws {
        let number = fleet.number()
        let request = Request(
            path: "/v1/sessions", json: #"{"labels":{"n":"\#(number)"}}"#, key: "request-number-\(number)", token: nil,
            status: 201)
        let response = try execute(request)
        session = Known(token: response[member: "token"]?.string ?? "")
        // Those of the session before need a token of it.
        former.removeAll { $0.request.token != nil }
        try expect(sessions(labelled: "\(number)") == 1, "session \(number) was not made once", response)
    }

    /// Sends a request until it has a response.
    @discardableResult
    private mutating func execute(_ request: Request) throws -> TestResponse {
        let response = try response(to: request)
        report.executed += 1
        if response["Idempotency-Replayed"] == "true" { report.replayed += 1 }
        try expect(response.status == request.status, "\(request.path) with \(request.key)", response)
        former.append((request, response))
        if former.count > 20 { former.removeFirst() }
        return response
    }

    /// Sends one of the former requests again.
    private mutating func repeatOne() throws {
        guard let (request, first) = former.randomElement(using: &generator) else { return }
        let again = try response(to: request, token: session.token)
        if again.status == 409, again.code == "replay_expired", first.text.contains("cg_") {
            report.expired += 1
            return
        }
        report.replayed += 1
        try expect(
            again.status == first.status && again.body == first.body && again["Idempotency-Replayed"] == "true",
            "\(request.key) was not replayed: first \(first.status) \(first.text)", again)
    }

    /// - Parameter token: in place of the request's own, which may not be valid any more.
    private mutating func response(to request: Request, token: String? = nil) throws -> TestResponse {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let port = fleet[Int.random(in: 0..<6, using: &generator)].public
            var client = TestClient(port: port)
            if let own = request.token { client = client.with(token: token ?? own) }
            let bytes = client.request(
                request.method, request.path, json: request.json,
                fields: [("Idempotency-Key", request.key), ("Content-Type", request.type)])
            if let response = try? Self.exchange(bytes, port) {
                let isLater = response.status == 503 || response.code == "request_in_progress"
                if !isLater {
                    fleet.acknowledge()
                    return response
                }
            }
            guard ContinuousClock.now < end else {
                throw KeyTorture.Violation(description: "no server responds to \(request.path)")
            }
            usleep(1_000)
        }
    }

    private static func exchange(_ bytes: [UInt8], _ port: UInt16) throws -> TestResponse {
        let connection = try RawConnection(port: port, timeoutSeconds: 30)
        try connection.send(bytes)
        return try connection.readResponse()
    }

    // MARK: - Checking

    private mutating func check() throws {
        let log = try get("\(Self.path)/services/log")
        let list = (log[member: "list"]?.elements ?? []).compactMap(\.int)
        try expect(list == session.written, "written \(session.written)", log)
        let journeys = try get("\(Self.path)/journeys?limit=100")
        let shown = journeys.items.compactMap { $0[string: "id"] }.filter { $0 != "main" }
        try expect(Set(shown) == session.journeys && shown.count == session.journeys.count, "other journeys", journeys)
    }

    private mutating func get(_ path: String) throws -> TestResponse {
        let token = session.token
        return try read(path) { ($0.public, TestClient(port: $0.public).with(token: token)) }
    }

    /// How many sessions have that label.
    private mutating func sessions(labelled label: String) throws -> Int {
        var (count, cursor) = (0, "")
        repeat {
            let page = try read("/v1/sessions?limit=100\(cursor)") { ($0.admin, TestClient(port: $0.admin)) }
            count += page.items.count { $0[member: "labels"]?[string: "n"] == label }
            cursor = page[member: "next"]?.string.map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        return count
    }

    private mutating func read(
        _ path: String, _ client: ((public: UInt16, admin: UInt16)) -> (UInt16, TestClient)
    ) throws -> TestResponse {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let (port, client) = client(fleet[Int.random(in: 0..<6, using: &generator)])
            if let response = try? Self.exchange(client.request("GET", path), port), response.status == 200 {
                return response
            }
            guard ContinuousClock.now < end else { throw KeyTorture.Violation(description: "no server shows \(path)") }
            usleep(1_000)
        }
    }

    private func expect(_ holds: Bool, _ what: String, _ response: TestResponse) throws {
        if !holds {
            throw KeyTorture.Violation(description: "\(what): \(response.status) \(response.text.prefix(2_000))")
        }
    }
}
