import Glibc
import HTTPTestClient
import Support
import Testing

/// The log is copied to the database in slices. Only a sync shows that the disk has the copied pages.
@Suite("Copying the log to the database", .enabled(if: Strace.isUsable, Strace.missing))
struct CheckpointSyncTests {
    /// Which sync fails: of the log before a slice, of the database before the log restarts, or at the end.
    enum Moment: Sendable { case slice, restart, closing }

    /// All of them in the long form, since each takes seconds.
    static let moments: [Moment] = Places.isLong ? [.slice, .restart, .closing] : [.restart]
    static let policies = Places.isLong ? ["none", "commit"] : ["none"]

    /// A run without a failure.
    private static let plain = Task { try await Run(durability: "none") }

    @Test(
        "the log is synced before it is copied, and restarts only when the copied pages are synced", arguments: policies
    )
    func order(durability: String) async throws {
        let run = try await durability == "none" ? Self.plain.value : Run(durability: durability)
        #expect(run.disk.violations == [])
        // Once while it runs, and once when it ends.
        #expect(run.disk.beginnings >= 2)
        #expect(run.client.acknowledged == run.client.writes)
    }

    @Test(
        "a failed sync is reported; nothing is acknowledged until the whole log is copied again and synced",
        arguments: moments)
    func failed(at moment: Moment) async throws {
        let syncs = try await Self.plain.value.disk.syncs
        // The first syncs are of opening the file.
        let late = syncs.indices.dropFirst(5)
        let found =
            switch moment {
            case .slice: late.first { !syncs[$0].isOfDatabase }
            case .restart: late.first { syncs[$0].isOfDatabase }
            case .closing: late.last { syncs[$0].isOfDatabase }
            }
        let place = try #require(found)
        let run = try await Run(durability: "none", failing: place + 1)
        #expect(run.disk.violations == [])
        let failed = try #require(run.disk.syncs.first { $0.hasFailed })
        #expect(failed.isOfDatabase == (moment != .slice))
        let syncsAfter = try #require(run.disk.syncsSinceFailure, "sync \(place + 1) of \(syncs.count) was to fail")
        #expect(run.complaints.contains(#""event":"store""#), "\(run.complaints)")
        #expect(run.complaints.contains("copying the log") || run.complaints.contains("syncing the log"))
        // The next start reads the log that a failure at the end has left.
        guard moment != .closing else { return }
        #expect(syncsAfter > 0)
        // The log, and then the database.
        #expect(run.disk.syncsBeforeAnswer ?? 0 >= 2)
    }
}

/// A run of the program in which the log grows until it restarts, the end of the run, and another run.
private struct Run: Sendable {
    let disk: DiskModel
    let client: OneSession
    let complaints: String

    /// Together longer than the log grows before it restarts: 17 MB.
    private static let documents = 90
    private static let size = 200_000

    /// - Parameter number: which sync of the writer fails.
    init(durability: String, failing number: Int? = nil) async throws {
        (disk, client, complaints) = try await withFolder(Server.files) { _, folder in
            let path = "\(folder)/calls"
            let calls = ["pwrite64", "fdatasync", "ftruncate", "unlink", "sendto", "sendmsg", "writev"]
            let server = try await Server(
                in: folder,
                settings: ["durability=\(durability)", "limits.body_bytes=1MiB", "limits.document_bytes=1MiB"],
                through: Strace.recording(calls, to: path, failing: number.map { ("fdatasync", $0) }))
            let port = server.port
            let client = try await blocking {
                let connection = try Connection(port: port)
                let session = try connection.newSession()
                var client = OneSession(session)
                let text = String(repeating: "x", count: Self.size)
                var filler = session
                for document in 0..<Self.documents {
                    // Pages that one slice copies, and pages that many slices copy.
                    if document.isMultiple(of: 9) { filler = try connection.newSession() }
                    // To a service that the model does not know.
                    let status = try connection.send(
                        "PATCH", "\(Connection.Session.path)/services/profile", #"{"attributes":{"a":"\#(text)"}}"#,
                        token: filler.token
                    ).status
                    #expect(status == 200 || (number != nil && status == 503))
                    client.write(1, to: port)
                }
                return client
            }
            server.process.send(SIGTERM)
            let complaints = try await server.process.result().complaints
            let disk = DiskModel(try SyncOrderTests.lines(of: path))
            let next = try await Server(in: folder)
            #expect(try await blocking { try client.violation(at: next.port) } == nil)
            try await next.kill()
            return (disk, client, complaints)
        }
    }
}
