import Glibc
import Synchronization
import Testing

/// A program that serves for the time of a test.
enum RunningProgram {
    /// Starts it, and waits until it listens.
    ///
    /// - Parameters:
    ///   - folder: has the texts of `files`.
    ///   - secrets: what the log must not have.
    static func start(_ files: ProgramFiles, in folder: String, secrets: [String]) async throws -> RunningApplication {
        let process = try ProgramProcess(
            ["serve", "--config", "\(folder)/\(ProgramFiles.configuration)"], environment: files.environment)
        let ports: (publicPort: UInt16, adminPort: UInt16)
        do {
            ports = try await process.ports()
        } catch {
            throw RefusedStart(complaints: try await process.result().complaints)
        }
        // From now on somebody reads what it writes: a pipe that is full would hold up its log.
        let ended = Task { try await process.result(patience: nil) }
        let hasStopped = Mutex(false)
        return RunningApplication(publicPort: ports.publicPort, adminPort: ports.adminPort) {
            let isFirst = hasStopped.withLock { stopped in
                defer { stopped = true }
                return !stopped
            }
            if isFirst { process.send(SIGTERM) }
            let result = try await ended.value
            guard isFirst else { return }
            #expect(result.status == 0, "the program has failed: \(result.complaints.suffix(4_000))")
            Canary.check(result.complaints, of: "the log", secrets: secrets)
        }
    }
}

/// A program of its own, which a test starts, asks and ends when it likes.
package struct ServingProgram: Sendable {
    package let process: ProgramProcess
    package let client: TestClient
    package let admin: TestClient

    /// `serve` on free ports of this machine. Its requests are not in the log, which nobody reads before it ends.
    package static func arguments(_ more: [String]) -> [String] {
        ["serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--set", "log.requests=false"] + more
    }

    /// Starts it, and waits until it listens.
    package init(_ arguments: [String], through wrapper: [String] = []) async throws {
        process = try ProgramProcess(Self.arguments(arguments), through: wrapper)
        let ports = try await process.ports()
        (client, admin) = (TestClient(port: ports.publicPort), TestClient(port: ports.adminPort))
    }

    /// The token of a new session.
    package func newToken() async throws -> String {
        let created = try await client.send("POST", "/v1/sessions")
        guard let token = created[member: "token"]?.string else { throw UnexpectedAnswer(response: created) }
        return token
    }

    /// Ends it as an operator does.
    @discardableResult
    package func end() async throws -> ProgramProcess.Result {
        process.send(SIGTERM)
        let result = try await process.result()
        #expect(result.status == 0, "\(result.complaints.suffix(4_000))")
        return result
    }
}

/// A program that ended instead of listening.
package struct RefusedStart: Error, CustomStringConvertible {
    /// What it wrote on standard error.
    package let complaints: String
    package var description: String { "the program has not started: \(complaints)" }
    /// Whether journeys need a version of a flow.
    package var isForFlow: Bool { complaints.contains(/needs? version \d+ of flow [a-z]+, which is not loaded/) }
}
