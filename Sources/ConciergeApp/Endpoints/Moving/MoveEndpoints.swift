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
                .notAnExport, errors: [InvalidInput(pointer: error.problem.pointer, detail: error.problem.detail)],
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
