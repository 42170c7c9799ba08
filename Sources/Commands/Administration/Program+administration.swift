import API
import Configuration
import JSONDocument
import Operations
import Sessions

extension Program {
    /// Does what an operator wants of a running server, and shows its response.
    static func administer(
        _ invocation: Invocation, _ loaded: LoadedConfiguration, _ files: FileReader, _ output: ProgramOutput,
        hasColors: Bool
    ) throws -> Int32 {
        guard let call = invocation.adminCall else { throw UsageError("no action is given") }
        let request = try AdminRequest(call, invocation.words, files) { invocation[$0] }
        // Nothing is left behind when it is interrupted.
        TerminationSignals.unblock()
        if let question = call.question, invocation["--yes"] == nil {
            guard let isWanted = output.ask(request.sentence(question)) else {
                throw UsageError("\(call.words) asks before it does that, and nobody can answer here: add --yes")
            }
            guard isWanted else { throw CommandFailure("nothing was done") }
        }
        let clock = SystemClock()
        let administration = Administration(
            listener: try AdminListener(of: loaded, timeoutSeconds: 120),
            text: TerminalText(
                now: Timestamp(millisecondsSince1970: clock.wall(at: clock.now())), hasColors: hasColors),
            output: output, isJSON: invocation["--json"] != nil || !output.isTerminal)
        switch call.shows {
        case .table(let columns, let isPaged):
            let limit = isPaged ? invocation["--limit"].flatMap { Int($0) } ?? 100 : nil
            try administration.list(request, columns, atMost: limit)
        case .itemOfList(let columns):
            try administration.showItem(invocation.words.last ?? "", of: request, columns)
        case .record, .document, .sentence: return try administration.perform(request, call)
        }
        return ExitStatus.success
    }
}

/// A running server as an operator sees it on a command line.
private struct Administration {
    let listener: AdminListener
    let text: TerminalText
    let output: ProgramOutput
    /// Whether results are for programs.
    let isJSON: Bool

    func list(_ request: AdminRequest, _ columns: [Column], atMost limit: Int?) throws(CommandFailure) {
        var rows: [JSONDocument] = []
        let hasMore = try pages(of: request, atMost: limit) { items in
            if isJSON { for item in items { output.result(TerminalText.line(item)) } } else { rows += items }
            return true
        }
        if !isJSON { output.result(rows.isEmpty ? "There are none.\n" : text.table(columns, rows)) }
        if hasMore { output.complaint("concierge: there are more; --limit N shows more\n") }
    }

    func showItem(_ id: String, of request: AdminRequest, _ columns: [Column]) throws(CommandFailure) {
        var found: JSONDocument?
        _ = try pages(of: request, atMost: .max) { items in
            found = items.first { $0[member: "id"]?.string == id }
            return found == nil
        }
        guard let found else {
            throw CommandFailure("\(id.printable) is not in the list: it is over, or has moved with its journey")
        }
        output.result(isJSON ? TerminalText.line(found) : text.record(columns, found))
    }

    /// - Parameters:
    ///   - limit: of items; nil for a list without pages.
    ///   - take: returns false when it needs no further page.
    /// - Returns: whether there are more items.
    private func pages(
        of request: AdminRequest, atMost limit: Int?, _ take: ([JSONDocument]) -> Bool
    ) throws(CommandFailure) -> Bool {
        var (left, cursor) = (limit ?? 0, String?.none)
        while true {
            var page = request
            if limit != nil { page.add("limit", "\(min(left, 100))") }
            if let cursor { page.add("cursor", cursor) }
            let document = try send(page).document
            guard let items = document[member: "items"]?.elements else { throw stranger }
            let next = document[member: "next"]?.string
            guard take(items), let next else { return false }
            left -= items.count
            if left <= 0 { return true }
            guard next != cursor else { throw stranger }
            cursor = next
        }
    }

    func perform(_ request: AdminRequest, _ call: AdminCall) throws(CommandFailure) -> Int32 {
        let (status, document) = try send(request)
        if isJSON, !document.isNull { output.result(TerminalText.line(document)) }
        guard status != 202 else {
            let problem = document[member: "problem"] ?? .null
            throw CommandFailure("the result is held: \(Self.sentence(problem) ?? "its flow cannot take it")")
        }
        guard !isJSON else { return ExitStatus.success }
        switch call.shows {
        case .record(let columns): output.result(text.record(columns, document))
        case .sentence(let sentence): output.result(request.sentence(sentence) + "\n")
        default: output.result(TerminalText.indented(document) + "\n")
        }
        return ExitStatus.success
    }

    /// - Returns: null for an empty body.
    private func send(_ request: AdminRequest) throws(CommandFailure) -> (status: Int, document: JSONDocument) {
        let answer = try listener.send(
            request.method, request.path, type: request.body.isEmpty ? nil : MediaType.json, fields: request.fields,
            body: request.body)
        let document = answer.body.isEmpty ? .null : try? JSONDocument(parsing: answer.body)
        guard (200..<300).contains(answer.status) else {
            let sentence = answer.status == 401 ? nil : document.flatMap(Self.sentence)
            throw CommandFailure(sentence ?? listener.refusal(answer))
        }
        guard let document else { throw stranger }
        return (answer.status, document)
    }

    private var stranger: CommandFailure {
        CommandFailure(
            "the server at \(listener.place) is not the admin listener of a \(BuildInformation.name) that knows this "
                + "command")
    }

    /// A problem (RFC 9457) as one sentence.
    private static func sentence(_ problem: JSONDocument) -> String? {
        guard let title = problem[member: "title"]?.string else { return nil }
        var sentence = title + (problem[member: "detail"]?.string.map { ": \($0.asClause)" } ?? "")
        for error in problem[member: "errors"]?.elements ?? [] { sentence += "; \(TerminalText.plain(error))" }
        return (sentence + (problem[member: "code"]?.string.map { " (\($0))" } ?? "")).printable
    }
}
