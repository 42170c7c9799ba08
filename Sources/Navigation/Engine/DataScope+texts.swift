import JSONDocument

/// What people are told: the author's texts with their values, and the choices of fields.
extension DataScope {
    /// A longer value is cut: a text is a line or two, and what a step says is kept with its journey.
    private static let longestValue = 1_000

    /// An author's text with its values, in each of its languages.
    func said(_ text: TextTemplate) -> SaidText {
        text.said { path in
            guard case .value(let value) = find(path) else { return "" }
            let next = Self.shown(value)
            let isLong = next.unicodeScalars.count > Self.longestValue
            return isLong ? String(next.unicodeScalars.prefix(Self.longestValue)) + "…" : next
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
    func form(_ shape: ShapeRule) -> EventForm {
        var texts: [PlacedText] = []
        var schema =
            shape.texts?.schema { text, place in
                let said = said(text)
                texts.add(said, at: place.description)
                return said.text
            } ?? shape.document
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
        return EventForm(schema: schema, texts: texts)
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
                services.listWork &-= Self.workOfReading(value)
                if choices[Likeness(value)]?.contains(value) == true, services.listWork >= 0 { continue }
                if !choices.isEmpty, services.listWork < 0 {
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
