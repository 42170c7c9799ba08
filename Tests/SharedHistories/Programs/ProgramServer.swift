import Glibc
import RedisTestServer
import Support

/// The program that is shipped, on a Redis behind a proxy.
final class ProgramServer: HistoryServer {
    let proxy: FaultProxy
    let client: TestClient
    let admin: TestClient
    private let process: ProgramProcess
    private let end: Task<ProgramProcess.Result, any Error>

    /// Services and a flow, for `withFolder`.
    static let files = [
        "services/chain.json": #"{"name":"chain","default":{"last":[]},"schema":{"type":"object"}}"#,
        "services/notes.json": #"{"name":"notes","default":{"all":[]},"schema":{"type":"object"}}"#,
        "flows/work.json": """
        {"id": "work", "version": 1, "initial": "ready", "states": {
           "ready": {"on": {"begin": {"target": "busy", "nav": "set_root"}, "note": {"actions": [
             {"op": "add", "path": "/notes/all/-", "value": {"$from": "/event/n"}}]}}},
           "busy": {"type": "task", "task": "work", "timeout": "300h", "retry": {"attempts": 100, "after": "1s"},
             "on": {"done": {"target": "ready", "nav": "set_root"}}}}}
        """,
    ]

    /// - Parameter folder: has the ``files``.
    init(_ redis: RedisTestServer, in folder: String, residents: Int) async throws {
        proxy = try FaultProxy(to: redis.port)
        process = try ProgramProcess([
            "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--workers", "2", "--store",
            "redis://127.0.0.1:\(proxy.port)", "--services", "\(folder)/services", "--flows",
            "\(folder)/flows", "--set", "main_flow=work", "--set", "max_resident_bytes=\(residents * 600)", "--set",
            "log.requests=false", "--set", "drain_timeout=1s",
        ])
        let ports = try await process.ports()
        (client, admin) = (TestClient(port: ports.publicPort), TestClient(port: ports.adminPort))
        // Somebody has to read what it writes.
        end = Task { [process] in try await process.result(patience: nil) }
    }

    func kill() async {
        process.send(SIGKILL)
        _ = try? await end.value
        proxy.close()
    }

    func close() async {
        await proxy.set(.open)
        process.send(SIGTERM)
        _ = try? await end.value
        proxy.close()
    }
}
