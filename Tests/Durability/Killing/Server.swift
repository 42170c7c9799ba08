import HTTPTestClient
import JSONDocument
import Support

/// The program, started on a database with services and a flow of these tests.
struct Server: Sendable {
    let process: ProgramProcess
    let port: UInt16
    let adminPort: UInt16

    /// The files for its start, for `withFolder`.
    static let files = [
        "services/left.json": #"{"name":"left","default":{"n":0},"schema":{"type":"object"}}"#,
        "services/right.json": #"{"name":"right","default":{"n":0},"schema":{"type":"object"}}"#,
        "services/trail.json": #"{"name":"trail","default":{"n":0},"schema":{"type":"object"}}"#,
        // Each step writes the number of its event.
        "flows/walk.json": """
        {"id": "walk", "version": 1, "initial": "here", "bound_to": "session", "states": {
           "here": {"on": {"move": {"target": "there", "actions": [
             {"op": "add", "path": "/trail/n", "value": {"$from": "/event/n"}}]}}},
           "there": {"on": {"move": {"target": "here", "actions": [
             {"op": "add", "path": "/trail/n", "value": {"$from": "/event/n"}}]},
             "stop": {"target": "end"}}},
           "end": {"type": "final"}}}
        """,
    ]

    /// - Parameter settings: keys of the configuration, as `name=value`.
    static func arguments(in folder: String, database: String? = nil, settings: [String] = []) -> [String] {
        let database = database ?? "\(folder)/sessions.db"
        let own = settings.flatMap { ["--set", $0] }
        return [
            "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--workers", "2", "--store",
            "sqlite:\(database)", "--services", "\(folder)/services", "--flows", "\(folder)/flows",
            // Without a grace period, a replaced token is a sign of theft at once.
            "--set", "main_flow=walk", "--set", "log.requests=false", "--set", "rotation_grace=0s",
        ] + own
    }

    /// Starts the program, and waits until it listens.
    /// - Parameters:
    ///   - folder: has the ``files``.
    ///   - database: its path; nil for a database in the folder.
    ///   - settings: further keys of the configuration, as `key=value`.
    ///   - wrapper: see `ProgramProcess`.
    init(
        in folder: String, database: String? = nil, settings: [String] = [], through wrapper: [String] = []
    ) async throws {
        process = try Self.spawn(in: folder, database: database, settings: settings, through: wrapper)
        (port, adminPort) = try await process.ports()
    }

    static func spawn(
        in folder: String, database: String? = nil, settings: [String] = [], through wrapper: [String] = []
    ) throws -> ProgramProcess {
        try ProgramProcess(arguments(in: folder, database: database, settings: settings), through: wrapper)
    }

    /// Ends the program without warning.
    func kill() async throws {
        process.send(9)
        _ = try await process.result()
    }
}
