import API
import HTTPServer
import JSONDocument
import Operations
import Sessions

/// Transfers everything from one installation to another, see docs/moving.md.
struct MoveEndpoints: Sendable {
    let sessions: Sessions
    let log: Log

    /// What a client is told of an archive that is larger than a body may be.
    static let tooLarge =
        "The request's body is too large. `concierge import` sends an archive of any size, in several requests."

    static let importPath = "/v1/imports"

    func addExports(to routes: inout RouterBuilder) { routes.on(.post, "/v1/exports", export) }

    func addImports(to routes: inout RouterBuilder) { routes.on(.post, Self.importPath, receive) }

    private func export(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Self.refuseIdempotencyKey(request)
        let after = try Self.cursor(of: request)
        let lines = ExportLines(
            of: SessionExport(
                of: sessions, program: "\(BuildInformation.name) \(BuildInformation.version)", after: after),
            log: log, request: request.id.text)
        // An unreachable store must be reported before the response begins.
        try await lines.begin()
        return HTTPResponse(
            .ok, fields: [.contentType: MediaType.lines[0], .cacheControl: "no-store"],
            source: HTTPBodySource { try await lines.next() })
    }

    private func receive(_ request: HTTPRequest) async throws -> HTTPResponse {
        try RequestBody.requireType(of: request, among: MediaType.lines)
        let options = try Self.options(of: request)
        let archive = try request.body
        var work = SessionImport(into: sessions, conflict: options.conflict, isTrial: options.isTrial)
        defer { report(work.report, isTrial: options.isTrial, to: request) }
        do {
            try await work.take(archive)
        } catch let error as NotAnArchive {
            throw Problem(
                .notAnExport, errors: [JSONViolation(pointer: error.problem.pointer, detail: error.problem.detail)],
                members: [("report", work.report.document)])
        } catch let error as SessionError {
            let problem = Problem(error)
            throw Problem(
                problem.kind, problem.detail, errors: problem.errors, members: [("report", work.report.document)],
                fields: problem.fields)
        }
        return .json { work.report.write(to: &$0) }
    }

    private func report(_ report: ImportReport, isTrial: Bool, to request: HTTPRequest) {
        log.write(.info, "import") { line in
            line.add("request_id", request.id)
            line.add("dry_run", isTrial)
            line.add("imported", report.imported)
            line.add("skipped", report.skipped)
            line.add("refused", report.refused)
            line.add("complete", report.isComplete)
        }
    }
}

extension ImportReport {
    /// The writer makes valid JSON.
    fileprivate var document: JSONDocument { (try? JSONDocument(parsing: text)) ?? .null }
}

extension MoveEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/exports", id: "exportSessions",
            summary: "Every session with its services, journeys and user, as lines of JSON",
            parameters: [.after], body: .json("ExportStart", isRequired: false),
            responses: [
                APIResponse(
                    status: .ok,
                    meaning:
                        "A header, a line for each session, and an end. If the end is missing, so are sessions. It has no "
                        + "length, and takes as long as it needs.",
                    contents: [(MediaType.lines[0], "Text")])
            ],
            problems: [.invalidInput, .idempotencyKeyNotPossible]),
        APIOperation(
            method: .post, path: "/v1/imports", id: "importSessions",
            summary: "Imports an export, session by session",
            parameters: [.onConflict, .dryRun, .idempotencyKey],
            body: APIBody(MediaType.lines.map { ($0, "Text") }),
            responses: [.json("The result.", "ImportReport")],
            problems: [
                .invalidInput, .notAnExport, .tooManySessions, .contention, .storageFull,
            ]),
    ]
}

extension MoveEndpoints {
    /// A response that may be replayed is kept as a whole, which an export is too large for. So the field is refused
    /// instead of ignored. An export changes nothing, so the client can repeat it without the field.
    static func refuseIdempotencyKey(_ request: HTTPRequest) throws(Problem) {
        guard !request.fields.contains(.idempotencyKey) else { throw Problem(.idempotencyKeyNotPossible) }
    }

    /// `after`, from the query or the body.
    static func cursor(of request: HTTPRequest) throws -> SessionCursor? {
        let body = try BodyMembers(request, known: ["after"], isOptional: true)["after"]
        if let body, body.string == nil, !body.isNull { throw refusal("must be a string") }
        guard let text = try QueryReader(request).text(.after) ?? body?.string else { return nil }
        do {
            return try SessionCursor(text: text)
        } catch {
            throw refusal(error.description)
        }
    }

    static func options(of request: HTTPRequest) throws -> (conflict: SessionImport.Conflict, isTrial: Bool) {
        var query = try QueryReader(request)
        let conflict: SessionImport.Conflict = query.choice(.onConflict) ?? .skip
        let isTrial = query.flag(.dryRun) ?? false
        try query.check()
        return (conflict, isTrial)
    }

    private static func refusal(_ detail: String) -> Problem {
        Problem(.invalidInput, errors: [JSONViolation(pointer: "/after", detail: detail)])
    }
}

/// Sends the lines of an export to a client, and logs the result.
actor ExportLines {
    private let export: SessionExport
    private let log: Log
    private let request: String
    /// Written before the client asked for a piece.
    private var first: [[UInt8]] = []

    init(of export: SessionExport, log: Log, request: String) {
        self.export = export
        self.log = log
        self.request = request
    }

    /// - Throws: ``SessionError`` when the store cannot be read.
    func begin() async throws {
        for _ in 0..<2 {
            if let piece = try await export.next() { first.append(piece) }
        }
    }

    func next() async throws -> [UInt8]? {
        if !first.isEmpty { return first.removeFirst() }
        if let piece = try await export.next() { return piece }
        let count = await export.count
        log.write(.info, "export") { [request] line in
            line.add("request_id", request)
            line.add("sessions", count)
        }
        return nil
    }
}
