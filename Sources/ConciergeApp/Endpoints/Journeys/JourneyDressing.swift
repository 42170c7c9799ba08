import API
import HTTPServer
import JSONDocument
import Navigation
import Sessions

/// What a response about a journey gets beside the view itself: texts in the client's language, the schemas of events.
///
/// The view is written, and remembered, in the first language of each text. It is translated on its way out, so flows
/// without languages pay nothing.
struct JourneyDressing: Sendable {
    private let texts: [String: FlowTexts]
    /// For each flow with texts, what changes with them. They are those of all its versions.
    private let tags: [String: String]

    init(_ flows: FlowCatalog) {
        texts = flows.texts
        tags = texts.mapValues { String($0.tag, radix: 36) }
    }

    /// Whether any flow has texts in several languages.
    var translates: Bool { !texts.isEmpty }

    /// The entity tag of a view in the client's language, with its quotes; nil for a view that has one language.
    ///
    /// It names the state, the language and the texts, so that no two languages have the same, and none outlasts an
    /// edit. As a condition of a write it stands for the state: see ``Conditions/ofWrite(_:ofJourney:)``.
    func etag(_ opaque: @autoclosure () -> String, of flow: String, for request: HTTPRequest) -> String? {
        language(of: flow, for: request).map { etag(opaque(), of: flow, in: $0) }
    }

    private func etag(_ opaque: String, of flow: String, in language: String) -> String {
        "\"\(opaque)-\(language)-\(tags[flow] ?? "")\""
    }

    private func language(of flow: String, for request: HTTPRequest) -> String? {
        guard translates, let texts = texts[flow] else { return nil }
        return AcceptedLanguages(request).best(of: texts.languages)
    }

    /// A journey's response in the client's language, with the schemas of its events.
    ///
    /// - Parameter flow: the one whose screen is on top.
    func dress(
        _ response: consuming HTTPResponse, of flow: String, for request: HTTPRequest,
        schemas: [String: JSONDocument]? = nil
    ) -> HTTPResponse {
        guard translates || schemas?.isEmpty == false, !response.body.isEmpty else { return consume response }
        let (body, language) = dress(response.body, of: flow, for: request, schemas: schemas)
        if language == nil, schemas?.isEmpty ?? true { return response }
        response.body = body
        if let language {
            if let tag = response.fields[.etag] {
                response.fields[.etag] = etag(tag.filter { $0 != "\"" }, of: flow, in: language)
            }
            response.fields.add(.contentLanguage, language)
            response.fields.add(.vary, HTTPFieldName.acceptLanguage.text)
        }
        return response
    }

    /// - Returns: the view, and its language where it has one.
    func dress(
        _ bytes: [UInt8], of flow: String, for request: HTTPRequest, schemas: [String: JSONDocument]? = nil
    ) -> (view: [UInt8], language: String?) {
        let language = language(of: flow, for: request)
        guard language != nil || !(schemas?.isEmpty ?? true), let view = try? JSONDocument(parsing: bytes) else {
            return (bytes, language)
        }
        let texts = texts[flow]
        var changes: [JSONDocument] = []
        func replace(_ path: String) {
            guard let texts, let language, let pointer = JSONPointer(parsing: path),
                let text = view.value(at: pointer)?.string
            else { return }
            let translated = texts.text(text, in: language)
            if translated != text {
                changes.append(["op": "replace", "path": JSONDocument(path), "value": JSONDocument(translated)])
            }
        }
        replace("/screen/title")
        for (place, event) in (view[member: "events"]?.elements ?? []).enumerated() {
            for index in 0..<(event[member: "why"]?.count ?? 0) { replace("/events/\(place)/why/\(index)/detail") }
            guard let name = event[member: "name"]?.string, var schema = schemas?[name] else { continue }
            if let texts, let language { schema = SchemaTexts.translated(schema, by: texts, to: language) }
            changes.append(["op": "add", "path": JSONDocument("/events/\(place)/schema"), "value": schema])
        }
        guard !changes.isEmpty, let dressed = try? view.applying(JSONDocument(changes)) else {
            return (bytes, language)
        }
        return (dressed.serialized(), language)
    }

    /// A problem in the client's language.
    func dress(_ problem: Problem, ofFlow flow: String, for request: HTTPRequest) -> Problem {
        texts[flow].map { problem.translated(by: $0, for: request) } ?? problem
    }
}

extension Problem {
    /// The same in the client's language.
    func translated(by texts: FlowTexts, for request: HTTPRequest) -> Problem {
        guard let language = AcceptedLanguages(request).best(of: texts.languages) else { return self }
        var fields = fields
        fields.add(.contentLanguage, language)
        fields.add(.vary, HTTPFieldName.acceptLanguage.text)
        return Problem(
            kind, texts.text(detail, in: language),
            errors: errors.map { InvalidInput(pointer: $0.pointer, detail: texts.text($0.detail, in: language)) },
            members: members, fields: fields)
    }
}
