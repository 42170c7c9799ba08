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
    func etag(_ opaque: @autoclosure () -> String, of text: JourneyText, for request: HTTPRequest) -> String? {
        language(of: text, for: request).map { etag(opaque(), of: text.flow, in: $0) }
    }

    private func etag(_ opaque: String, of flow: String, in language: String) -> String {
        "\"\(opaque)-\(language)-\(tags[flow] ?? "")\""
    }

    /// A flow that is written in one language may have been started by one that is written in several.
    private func language(of text: JourneyText, for request: HTTPRequest) -> String? {
        guard translates else { return nil }
        let languages = texts[text.flow]?.languages ?? text.texts.languages
        return languages.isEmpty ? nil : AcceptedLanguages(request).best(of: languages)
    }

    /// A journey's response in the client's language, with the schemas of its events.
    ///
    /// - Parameter text: the journey as the response has it, but for what was added at its end.
    func dress(
        _ response: consuming HTTPResponse, of text: JourneyText, for request: HTTPRequest,
        schemas: EventSchemas? = nil
    ) -> HTTPResponse {
        guard translates || schemas?.isEmpty == false, !response.body.isEmpty else { return consume response }
        let (body, language) = dress(response.body, of: text, for: request, schemas: schemas)
        if language == nil, schemas?.isEmpty ?? true { return response }
        response.body = body
        if let language {
            if let tag = response.fields[.etag] {
                response.fields[.etag] = etag(tag.filter { $0 != "\"" }, of: text.flow, in: language)
            }
            response.fields.add(.contentLanguage, language)
            response.fields.add(.vary, HTTPFieldName.acceptLanguage.text)
        }
        return response
    }

    /// - Returns: the view, and its language where it has one.
    func dress(
        _ bytes: [UInt8], of text: JourneyText, for request: HTTPRequest, schemas: EventSchemas? = nil
    ) -> (view: [UInt8], language: String?) {
        let language = language(of: text, for: request)
        guard language != nil || !(schemas?.isEmpty ?? true), let view = try? JSONDocument(parsing: bytes) else {
            return (bytes, language)
        }
        let texts = [schemas?.texts, text.texts, texts[text.flow]].compactMap(\.self)
        var changes: [JSONDocument] = []
        func replace(_ path: String) {
            guard let language, let pointer = JSONPointer(parsing: path), let text = view.value(at: pointer)?.string
            else { return }
            let translated = texts.text(text, in: language)
            if translated != text {
                changes.append(["op": "replace", "path": JSONDocument(path), "value": JSONDocument(translated)])
            }
        }
        replace("/screen/title")
        replace("/message")
        for (place, event) in (view[member: "events"]?.elements ?? []).enumerated() {
            for index in 0..<(event[member: "why"]?.count ?? 0) { replace("/events/\(place)/why/\(index)/detail") }
            if event[member: "label"] != nil { replace("/events/\(place)/label") }
            guard let name = event[member: "name"]?.string, var schema = schemas?[name] else { continue }
            if let language { schema = SchemaTexts.translated(schema) { texts.text($0, in: language) } }
            changes.append(["op": "add", "path": JSONDocument("/events/\(place)/schema"), "value": schema])
        }
        guard !changes.isEmpty, let dressed = try? view.applying(JSONDocument(changes)) else {
            return (bytes, language)
        }
        return (dressed.serialized(), language)
    }

    /// Why a journey of a flow cannot be started, in the client's language.
    func problem(_ refusal: JourneyRefusal, ofFlow flow: String, for request: HTTPRequest) -> Problem {
        problem(
            refusal, ofJourneyAt: nil, ofFlow: flow,
            in: texts[flow].flatMap { AcceptedLanguages(request).best(of: $0.languages) })
    }

    /// Why a journey takes no such step, in the client's language.
    func problem(_ refusal: JourneyRefusal, of text: JourneyText, for request: HTTPRequest) -> Problem {
        problem(
            refusal, ofJourneyAt: request.journeyPath, ofFlow: text.flow, in: language(of: text, for: request))
    }

    private func problem(
        _ refusal: JourneyRefusal, ofJourneyAt path: String?, ofFlow flow: String, in language: String?
    ) -> Problem {
        guard let language else { return Problem(refusal, ofJourneyAt: path) }
        let translated = refusal.translated {
            $0.translations[language] ?? texts[flow]?.text($0.detail, in: language) ?? $0.detail
        }
        return Problem(translated, ofJourneyAt: path).said(in: language)
    }
}

extension Problem {
    /// The same in the client's language.
    func translated(by texts: FlowTexts, for request: HTTPRequest) -> Problem {
        guard let language = AcceptedLanguages(request).best(of: texts.languages) else { return self }
        func translated(_ text: InvalidInput) -> String {
            text.translations[language] ?? texts.text(text.detail, in: language)
        }
        return Problem(
            kind, errors.first { $0.detail == detail }.map(translated) ?? detail,
            errors: errors.map { InvalidInput(pointer: $0.pointer, detail: translated($0)) },
            members: members, fields: fields
        ).said(in: language)
    }

    fileprivate func said(in language: String) -> Problem {
        var fields = fields
        fields.add(.contentLanguage, language)
        fields.add(.vary, HTTPFieldName.acceptLanguage.text)
        return Problem(kind, detail, errors: errors, members: members, fields: fields)
    }
}

extension [FlowTexts] {
    /// The text as the first of them has it.
    fileprivate func text(_ text: String, in language: String) -> String {
        lazy.map { $0.text(text, in: language) }.first { $0 != text } ?? text
    }
}
