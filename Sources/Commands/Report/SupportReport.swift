import API
import Configuration
import Glibc
import HTTPServer
import JSONDocument
import Operations
import Sessions
import Synchronization

/// What support needs to know of an installation, without a secret and without data of persons.
struct SupportReport {
    private(set) var files: [(name: String, bytes: [UInt8], meaning: String)] = []

    init(_ loaded: LoadedConfiguration, _ reader: FileReader) throws {
        add("version.json", Self.version(), "the program")
        add("system.json", Self.system(), "the system")
        let limits = try? FileReader().read("/proc/self/limits")
        add("limits.txt", limits.map { String(decoding: $0, as: UTF8.self) } ?? "", "limits of a process started here")
        let checked = CollectedText()
        _ = try Program.check(loaded, reader, against: nil, checked.output)
        add("check.txt", checked.text, "what `concierge check` says")
        add(
            "configuration.json", Self.withoutQueries(ConfigurationReport.jsonWithSources(of: loaded)),
            "the configuration with secrets masked, and where each value comes from")
        add("flows.txt", Self.digests(in: loaded.configuration.flows, reader), "flows: id, version, SHA-256, file")
        add("services.txt", Self.digests(in: loaded.configuration.services, reader), "services: name, SHA-256, file")
    }

    private mutating func add(_ name: String, _ text: String, _ meaning: String) {
        files.append((name, Array(text.utf8), meaning))
    }

    // MARK: The program and the system

    private static func version() -> String {
        // The digest tells builds of one version apart.
        let program = try? FileReader().read("/proc/self/exe", limit: 1 << 30)
        return text { json in
            json.member("name", BuildInformation.name)
            json.member("version", BuildInformation.version)
            json.member("libmicrohttpd", HTTPServer.libraryVersion)
            json.member("sha256", program.map { SHA256Digest(of: $0).text(ofFirst: SHA256Digest.byteCount) })
        }
    }

    private static func system() -> String {
        var name = utsname()
        uname(&name)
        func field<Text>(_ field: Text) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        let release = (try? FileReader().read("/etc/os-release")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let title = release.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
        return text { json in
            json.member("kernel", "\(field(name.sysname)) \(field(name.release)) \(field(name.machine))")
            json.member("system", title.map { $0.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" } })
            json.member("glibc", libraryVersion)
            json.member("usable_cores", UsableCores.count)
            json.member("usable_memory", UsableMemory.bytes())
        }
    }

    private static var libraryVersion: String {
        var text = [CChar](repeating: 0, count: 64)
        confstr(Int32(_CS_GNU_LIBC_VERSION), &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func text(_ write: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        json.object(write)
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }

    // MARK: The configuration

    /// The address of a back end may have a token of its own behind the question mark.
    private static func withoutQueries(_ configuration: String) -> String {
        configuration.replacing(#/(https?:\/\/[^"?]*)\?(?:[^"\\]|\\.)*/#) { "\($0.output.1)?\(Secret.mask)" }
    }

    /// A line for each file. What is in them stays.
    private static func digests(in directory: String?, _ reader: FileReader) -> String {
        guard let directory else { return "" }
        do {
            return try reader.jsonFiles(in: directory).map { name in
                guard let bytes = try? reader.read(PathText.join(directory, name), limit: 16 << 20) else {
                    return "- - \(name)\n"
                }
                let document = try? JSONDocument(parsing: bytes, comments: true)
                let id = document?[member: "id"]?.string ?? document?[member: "name"]?.string ?? "-"
                let version = document?[member: "version"]?.int.map { " \($0)" } ?? ""
                let digest = SHA256Digest(of: bytes).text(ofFirst: SHA256Digest.byteCount)
                return "\(id.printable)\(version) \(digest) \(name.printable)\n"
            }.joined()
        } catch {
            return "\(error)\n"
        }
    }

    // MARK: The server

    /// Adds what a running server tells of itself in numbers.
    /// - Returns: why there is nothing; nil when it has responded.
    mutating func ask(_ listener: AdminListener) -> CommandFailure? {
        let paths = [
            ("/health/ready", "ready.json", "whether the server is ready"),
            ("/version", "server.json", "its version"), ("/v1/stats", "stats.json", "its numbers"),
            ("/metrics", "metrics.txt", "its metrics, among them journeys by flow and status"),
            ("/v1/journeys/census", "journeys.json", "how many journeys are on which screen"),
        ]
        for (path, name, meaning) in paths {
            do {
                let answer = try listener.send("GET", path)
                // A problem may name what was asked for.
                let isShown = answer.status == 200 || path == "/health/ready"
                let text = isShown ? String(decoding: answer.body, as: UTF8.self) : listener.refusal(answer) + "\n"
                add("server/\(name)", text, meaning)
            } catch {
                add("server/\(name)", "\(error)\n", "why there is no response")
                return error
            }
        }
        return nil
    }

    // MARK: The log

    /// Members of log lines that are names of the program, its configuration and its flows, or numbers.
    private static let plainMembers = [
        "time", "level", "event", "method", "route", "listener", "status", "duration_ms", "bytes", "code", "flow",
        "journey_event", "from", "to", "task", "left_out", "version",
    ]
    private static let mostLines = 1_000

    /// Adds the last lines of a log in JSON with those members alone.
    mutating func add(log path: String) throws(CommandFailure) {
        let file = try LineReader(path)
        var last: [String] = []
        while let line = try file.next() {
            guard let document = try? JSONDocument(parsing: line), document.members != nil else { continue }
            let members = Self.plainMembers.compactMap { name in document[member: name].map { (name, $0) } }
            last.append("\(JSONDocument(members: members))\n")
            if last.count >= 2 * Self.mostLines { last.removeFirst(Self.mostLines) }
        }
        add("log.ndjson", last.suffix(Self.mostLines).joined(), "the last lines of the log, without names and ids")
    }
}

/// Collects what a command writes.
private final class CollectedText: Sendable {
    private let collected = Mutex("")

    var text: String { collected.withLock { $0 } }

    var output: ProgramOutput { ProgramOutput(result: { self.add($0) }, complaint: { self.add($0) }) }

    private func add(_ text: String) { collected.withLock { $0 += text } }
}

extension Program {
    /// Writes a report for support to a new file, and says what is in it.
    static func report(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ files: FileReader, _ output: ProgramOutput
    ) throws -> Int32 {
        TerminationSignals.unblock()
        let clock = SystemClock()
        let now = Timestamp(millisecondsSince1970: clock.wall(at: clock.now()))
        var report = try SupportReport(loaded, files)
        let silence = report.ask(try AdminListener(of: loaded, timeoutSeconds: 10))
        if let log = invocation["--log"] { try report.add(log: files.path(of: log)) }
        let stem = "concierge-report-\(now.description.prefix(19).filter { $0 != "-" && $0 != ":" })"
        let path = invocation.argument ?? "\(stem).tar.gz"
        var archive = TarArchive()
        for file in report.files {
            archive.add("\(stem)/\(file.name)", file.bytes, changedAt: now.millisecondsSince1970 / 1_000)
        }
        try NewFile.write(Gzip.compressed(archive.whole), to: files.path(of: path), permissions: 0o600)
        if let silence { output.complaint("concierge: \(silence)\n") }
        let width = report.files.map(\.name.count).max() ?? 0
        for file in report.files {
            let space = String(repeating: " ", count: width - file.name.count + 2)
            output.result("\(file.name)\(space)\(file.meaning)\n")
        }
        output.result("\(path): look into it before you send it\n")
        return ExitStatus.success
    }
}
