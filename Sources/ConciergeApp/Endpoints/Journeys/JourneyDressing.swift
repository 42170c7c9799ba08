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
    /// See ``FlowCatalog/languages``.
    private let languages: [String: [String]]

    init(_ flows: FlowCatalog) { languages = flows.languages }

    /// Whether any flow has texts in several languages.
    var translates: Bool { !languages.isEmpty }

    /// The entity tag of a view in the client's language, with its quotes; nil for a view that has one language.
    ///
    /// It names the state and the language, so that no two languages have the same. As a condition of a write it stands
    /// for the state: see ``Conditions/ofWrite(_:ofJourney:)``.
    func etag(_ opaque: @autoclosure () -> String, of text: JourneyText, for request: HTTPRequest) -> String? {
        language(of: text, for: request).map { Self.etag(opaque(), in: $0) }
    }

    private static func etag(_ opaque: String, in language: String) -> String { "\"\(opaque)-\(language)\"" }

    /// A flow that is written in one language may have been started by one that is written in several.
    private func languages(of text: JourneyText) -> [String] {
        translates ? languages[text.flow] ?? text.texts.languages : []
    }

    private func language(of text: JourneyText, for request: HTTPRequest) -> String? {
        let languages = languages(of: text)
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
                response.fields[.etag] = Self.etag(tag.filter { $0 != "\"" }, in: language)
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
        var changes = language.map(text.texts.changes) ?? []
        guard !changes.isEmpty || !(schemas?.isEmpty ?? true), let view = try? JSONDocument(parsing: bytes) else {
            return (bytes, language)
        }
        for (place, event) in (view[member: "events"]?.elements ?? []).enumerated() {
            guard let form = event[member: "name"]?.string.flatMap({ schemas?[$0] }) else { continue }
            changes.append(
                ["op": "add", "path": JSONDocument("/events/\(place)/schema"), "value": form.schema(in: language)])
        }
        guard !changes.isEmpty, let dressed = try? view.applying(JSONDocument(changes)) else {
            return (bytes, language)
        }
        return (dressed.serialized(), language)
    }

    /// Why a journey of a flow cannot be started, in the client's language.
    func problem(_ refusal: JourneyRefusal, ofFlow flow: String, for request: HTTPRequest) -> Problem {
        Problem(refusal, ofJourneyAt: nil).translated(to: languages[flow] ?? [], for: request)
    }

    /// Why a journey takes no such step, in the client's language.
    func problem(_ refusal: JourneyRefusal, of text: JourneyText, for request: HTTPRequest) -> Problem {
        Problem(refusal, ofJourneyAt: request.journeyPath).translated(to: languages(of: text), for: request)
    }
}

extension Problem {
    /// The same in the client's language.
    ///
    /// - Parameter languages: of what has failed.
    func translated(to languages: [String], for request: HTTPRequest) -> Problem {
        guard let language = AcceptedLanguages(request).best(of: languages) else { return self }
        func translated(_ text: JSONViolation) -> String { text.translations[language] ?? text.detail }
        var fields = fields
        fields.add(.contentLanguage, language)
        fields.add(.vary, HTTPFieldName.acceptLanguage.text)
        return Problem(
            kind, errors.first { $0.detail == detail }.map(translated) ?? detail,
            errors: errors.map { JSONViolation(pointer: $0.pointer, detail: translated($0)) },
            members: members, fields: fields)
    }
}
