import Glibc
import HTTPTestClient
import Support
import Testing

/// Reads of the database fail, at the start and in requests. That says nothing about the data.
@Suite("A read fails", .enabled(if: Strace.isUsable, Strace.missing), .serialized)
struct ReadFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let number: Int
        /// As many reads in a row.
        let count: Int
        var testDescription: String { "\(count) from \(number) on" }
    }

    /// The server reads again after one error, and gives up after three. Each thread counts its own calls.
    static let faults: [Fault] = {
        let isLong = getenv("TORTURE_SECONDS") != nil
        let numbers = isLong ? Array(1...160) : [5, 8, 13]
        return numbers.flatMap { number in [1, 4].map { Fault(number: number, count: $0) } }
    }()

    private static let sessions = 90
    private static let left = Connection.Session.service(.left)
    private static let right = Connection.Session.service(.right)

    /// Every third session has a document that lies beside its row.
    private static func text(_ number: Int) -> String {
        number.isMultiple(of: 3) ? String(repeating: "x", count: 900) : ""
    }

    @Test(
        "nothing that exists is shown as a default or as absent, nothing is lost, and the server goes on",
        arguments: faults)
    func read(_ fault: Fault) async throws {
        try await withFolder(Server.files) { _, folder in
            let tokens = try await Self.tokens(in: folder)
            let process = try Server.spawn(
                in: folder, through: Strace.failing("pread64", fault.number, count: fault.count))
            var written: [Int] = []
            if let port = try? await process.ports().publicPort {
                written = try await blocking {
                    var written: [Int] = []
                    for (number, token) in tokens.enumerated() {
                        let connection = try Connection(port: port, token: token)
                        try Self.check(try connection.send("GET", Self.left), number, mayFail: fault.count > 1)
                        let patched = try connection.send("PATCH", Self.left, #"{"m":\#(number)}"#)
                        #expect(patched.status == 200 || Self.isUnread(patched), "\(patched.status) \(patched.text)")
                        if patched.status == 200 { written.append(number) }
                        let other = try connection.send("PUT", Self.right, #"{"n":1}"#)
                        #expect(other.status == 200 || Self.isUnread(other), "\(other.status) \(other.text)")
                    }
                    // An error is over when it is over.
                    let last = try Connection(port: port, token: tokens[0])
                    #expect(try last.send("PUT", Self.right, #"{"n":2}"#).status == 200)
                    return written
                }
                process.send(SIGKILL)
                _ = try await process.result()
            } else {
                let result = try await process.result()
                #expect(result.status ?? 0 != 0)
                // The first reads are of the program itself.
                let isOfStore = result.complaints.contains("sessions.db") && fault.count > 1
                #expect(isOfStore || result.complaints.contains("shared libraries"), "\(result.complaints)")
            }
            let server = try await Server(in: folder)
            let port = server.port
            try await blocking { [written] in
                for (number, token) in tokens.enumerated() {
                    let shown = try Connection(port: port, token: token).send("GET", Self.left)
                    try Self.check(shown, number, mayFail: false)
                    if written.contains(number) { #expect(shown[member: "m"]?.int == number) }
                }
            }
            try await server.kill()
        }
    }

    /// It could not be read, and is not said to be damaged.
    private static func isUnread(_ response: TestResponse) -> Bool {
        response.status == 503 && response.code == "store_unavailable" && response["Retry-After"] != nil
    }

    private static func check(_ shown: TestResponse, _ number: Int, mayFail: Bool) throws {
        if mayFail, isUnread(shown) { return }
        #expect(shown.status == 200, "\(shown.status) \(shown.text)")
        #expect(shown[member: "n"]?.int == number + 1 && shown[member: "t"]?.string == text(number))
    }

    private static func tokens(in folder: String) async throws -> [String] {
        let server = try await Server(in: folder)
        let port = server.port
        let tokens = try await blocking {
            try (0..<sessions).map { number in
                let created = try Connection(port: port).send("POST", "/v1/sessions")
                let token = try #require(created[member: "token"]?.string)
                let connection = try Connection(port: port, token: token)
                let put = try connection.send("PUT", Self.left, #"{"n":\#(number + 1),"t":"\#(Self.text(number))"}"#)
                #expect(put.status == 200)
                return token
            }
        }
        // In order, so that the log is in the database and the next start reads that.
        server.process.send(SIGTERM)
        _ = try await server.process.result()
        return tokens
    }
}
