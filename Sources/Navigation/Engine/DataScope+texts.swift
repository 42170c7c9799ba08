import JSONDocument

/// What people are told: the author's texts with their values, and the choices of fields.
extension DataScope {
    /// A longer value is cut: a text is a line or two, and what a step says is kept with its journey.
    private static let longestValue = 1_000

    /// An author's text with its values, in each of its languages.
    func said(_ text: String) -> SaidText {
        guard let template = definition.texts.template(of: text) else {
            return SaidText(text: text, translations: definition.texts.translations(of: text))
        }
        let versions = template.versions.map { (language: $0.language, text: filled($0.parts)) }
        let isTranslated = versions.contains { !$0.language.isEmpty }
        return SaidText(
            text: versions.first?.text ?? text,
            translations: isTranslated
                ? Dictionary(versions.map { ($0.language, $0.text) }, uniquingKeysWith: { first, _ in first }) : [:])
    }

    private func filled(_ parts: [TextTemplate.Part]) -> String {
        parts.reduce(into: "") { text, part in
            switch part {
            case .text(let next): text += next
            case .value(let path):
                guard case .value(let value) = find(path) else { break }
                let next = Self.shown(value)
                let isLong = next.unicodeScalars.count > Self.longestValue
                text += isLong ? String(next.unicodeScalars.prefix(Self.longestValue)) + "…" : next
            }
        }
    }

    /// A value as people read it: nothing for null, lists and objects.
    private static func shown(_ value: JSONDocument) -> String {
        switch value.kind {
        case .string: value.string ?? ""
        case .bool, .integer, .double: value.description
        case .null, .array, .object: ""
        }
    }

    // MARK: - Forms

    /// A person who mends these finds the others.
    private static let mostViolations = 10

    /// The schema that the data of an event must have, with the values of its texts and with choices.
    ///
    /// - Parameter texts: gets the texts that are written in several languages.
    func form(_ shape: ShapeRule, _ texts: inout FlowTexts) -> JSONDocument {
        var schema = shape.document
        if definition.texts.holdsValues {
            schema = SchemaTexts.map(schema, at: .root) { value, _ in
                guard let text = value.string, definition.texts.template(of: text) != nil else { return value }
                let said = said(text)
                texts.add(said)
                return JSONDocument(said.text)
            }
        }
        for field in shape.fields {
            // Where there is no list, there is nothing to choose; a step says why.
            let options = (try? options(of: field)) ?? []
            let values = options.map(\.value)
            let shown = options.map { JSONDocument(members: [("value", $0.value), ("title", JSONDocument($0.title))]) }
            let changes: [(key: String, value: JSONDocument)] = [
                ("enum", JSONDocument(values)), (FormField.optionsKey, JSONDocument(shown)),
            ]
            let patch = changes.map { change -> JSONDocument in
                let path = field.place.appending(change.key).description
                return ["op": "add", "path": JSONDocument(path), "value": change.value]
            }
            schema = (try? schema.applying(JSONDocument(patch))) ?? schema
        }
        return schema
    }

    /// What may be chosen. An element without a value cannot be.
    private func options(of field: FormField) throws(ValueFailure) -> [(value: JSONDocument, title: String)] {
        let list = try list(of: field.of, in: FormField.optionsKey)
        var options: [(value: JSONDocument, title: String)] = []
        try forEach(list, of: field.of) { (scope: DataScope) throws(ValueFailure) in
            if let value = try? scope.evaluate(field.value) {
                let title = (try? scope.evaluate(field.title)).map(Self.shown) ?? ""
                options.append((value, title.isEmpty ? Self.shown(value) : title))
            }
            return true
        }
        // What was too much for the last element is found by the next, and there is none.
        try checkWork([field.of])
        return options
    }

    /// Why values in an event's data are none that can be chosen, with pointers within the data.
    ///
    /// - Parameter known: what the schema says already.
    func violations(
        in data: JSONDocument, of shape: ShapeRule, besides known: [JSONViolation]
    ) -> [JSONViolation] {
        var violations: [JSONViolation] = []
        for field in shape.fields {
            let sent = field.values(in: data)
            if sent.isEmpty { continue }
            let list = place(of: [field.of])
            var choices: [Likeness: [JSONDocument]] = [:]
            var detail = "must be one of the values in the list at \(list)"
            do throws(ValueFailure) {
                for option in try options(of: field) {
                    choices[Likeness(option.value), default: []].append(option.value)
                }
                if choices.isEmpty { detail = "cannot be chosen: the list at \(list) is empty" }
            } catch {
                detail = "cannot be chosen: there is no list at \(list)"
                if case .undecided(let reason) = error, let path = field.of.path, case .value = find(path) {
                    detail = "cannot be chosen: \(reason.pointer) \(reason.detail)"
                }
            }
            for (place, value) in sent where violations.count < Self.mostViolations {
                spend(on: value)
                services.work.rest &-= Self.workOfReading(value)
                if choices[Likeness(value)]?.contains(value) == true, services.work.rest >= 0 { continue }
                if !choices.isEmpty, services.work.rest < 0 {
                    detail = "takes more work to look up than one step may do"
                }
                let pointer = place.description
                if known.contains(where: { $0.pointer == pointer }) { continue }
                violations.append(shape.inWords(JSONViolation(pointer: pointer, detail: detail), saying: said))
            }
        }
        return violations
    }
}

extension JSONViolation {
    /// In an author's words.
    init(_ said: SaidText, at pointer: String) {
        self.init(pointer: pointer, detail: said.text, translations: said.translations)
    }
}
