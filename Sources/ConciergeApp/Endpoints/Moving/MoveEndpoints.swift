import HTTPServer
import JSONDocument
import Sessions

/// Transfers everything from one installation to another, see docs/moving.md.
struct MoveEndpoints: Sendable {
    let sessions: Sessions
    /// Keeps the reports of imports.
    let idempotency: Idempotency
    let log: Log

    /// Lines of JSON have no registered type. Exports are sent as the first.
    static let mediaTypes = ["application/x-ndjson", "application/ndjson", "application/jsonl"]

    func add(to routes: inout RouterBuilder) {
        routes.on(.post, "/v1/exports", export)
        routes.onPieces(.post, "/v1/imports", receive)
    }

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
            .ok, fields: [.contentType: Self.mediaTypes[0], .cacheControl: "no-store"],
            source: HTTPBodySource { try await lines.next() })
    }

    private func receive(_ request: HTTPRequest) async throws -> HTTPResponse {
        try RequestBody.requireType(of: request, among: Self.mediaTypes)
        let options = try Self.options(of: request)
        return try await IdempotentPieces(idempotency: idempotency, scope: .administrator(nil)).respond(to: request) {
            body in
            try await receive(&body, of: request, options.conflict, isTrial: options.isTrial)
        }
    }

    private func receive(
        _ body: inout FingerprintedBody, of request: HTTPRequest, _ conflict: SessionImport.Conflict, isTrial: Bool
    ) async throws -> HTTPResponse {
        var work = SessionImport(into: sessions, conflict: conflict, isTrial: isTrial)
        defer { report(work.report, isTrial: isTrial, to: request) }
        do {
            try await Self.take(&body, into: &work)
        } catch let error as SessionImport.NotAnArchive {
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

    /// - Throws: what `SessionImport` throws.
    private nonisolated(nonsending) static func take(
        _ body: inout FingerprintedBody, into work: inout SessionImport
    ) async throws {
        do {
            while let piece = try await body.next() { try await work.take(piece) }
        } catch is HTTPBodyBroken {
            // The client cannot get a response. Whole lines that arrived are imported.
            return try await work.finish(isAtEnd: false)
        }
        try await work.finish()
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
    fileprivate var document: JSONDocument {
        var json = JSONWriter()
        json.beginObject()
        write(to: &json)
        json.endObject()
        // The writer makes valid JSON.
        return (try? JSONDocument(parsing: json.bytes)) ?? .null
    }
}
