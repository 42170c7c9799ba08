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

    /// What it takes to show a choice, in units of work.
    private static let workOfChoice = 20

    /// The schema that the data of an event must have, with the values of its texts and with choices.
    ///
    /// - Parameters:
    ///   - coordinator: the one whose data this is.
    ///   - choices: gets the lists that fields are chosen from, for other fields.
    func form(_ shape: ShapeRule, of coordinator: Int, _ choices: inout [String: [Choice]]) -> EventForm {
        var texts: [PlacedText] = []
        let schema =
            shape.texts?.schema { text, place in
                let said = said(text)
                texts.add(said, at: place.description)
                return said.text
            } ?? shape.document
        if shape.fields.isEmpty { return EventForm(schema: schema, texts: texts) }
        let filled = Self.filled(
            schema,
            shape.fields.map { ($0.place.tokens[...], self.choices(of: $0, coordinator, among: &choices)) })
        return EventForm(schema: filled, texts: texts)
    }

    /// What a field shows; nil where that takes too much work, and a step decides.
    private func choices(
        of field: FormField, _ coordinator: Int, among known: inout [String: [Choice]]
    ) -> [Choice]? {
        let key = "\(coordinator) \(field.source)"
        let choices: [Choice]
        if let list = known[key] {
            choices = list
        } else {
            // Where there is no list, there is nothing to choose; a step says why.
            choices = (try? options(of: field)) ?? []
            guard services.work.rest >= 0 else { return nil }
            known[key] = choices
        }
        let shown = choices.filter { field.allows($0.value) }
        services.work.rest &-= Self.workOfChoice * shown.count
        return services.work.rest < 0 ? nil : shown
    }

    /// A schema with choices in place of where they come from.
    ///
    /// - Parameter fields: their places in the schema.
    private static func filled(
        _ schema: JSONDocument, _ fields: [(place: ArraySlice<String>, choices: [Choice]?)]
    ) -> JSONDocument {
        let inner = Dictionary(grouping: fields.filter { !$0.place.isEmpty }) { $0.place[$0.place.startIndex] }
        let own = fields.first { $0.place.isEmpty }
        var members: [(name: String, value: JSONDocument)] = []
        for (name, value) in schema.members ?? [] {
            if let own, name == FormField.optionsKey || (own.choices != nil && name == FormField.enumKey) { continue }
            let parts = inner[name].map { $0.map { (place: $0.place.dropFirst(), choices: $0.choices) } }
            members.append((name, parts.map { filled(value, $0) } ?? value))
        }
        if let choices = own?.choices {
            // An `enum` is never empty.
            if !choices.isEmpty { members.append((FormField.enumKey, JSONDocument(choices.map(\.value)))) }
            let shown = choices.map { JSONDocument(members: [("value", $0.value), ("title", JSONDocument($0.title))]) }
            members.append((FormField.optionsKey, JSONDocument(shown)))
        }
        return JSONDocument(members: members)
    }

    /// What may be chosen, each value once. An element without a value cannot be, nor can a list or an object.
    private func options(of field: FormField) throws(ValueFailure) -> [Choice] {
        let list = try list(of: field.of, in: FormField.optionsKey)
        var options: [Choice] = []
        var seen: [Likeness: [JSONDocument]] = [:]
        try forEach(list, of: field.of) { (scope: DataScope) throws(ValueFailure) in
            guard let value = try? scope.evaluate(field.value), value.kind != .array, value.kind != .object else {
                return true
            }
            let like = Likeness(value)
            let others = seen[like] ?? []
            services.work.rest &-= others.count
            if others.contains(value) { return true }
            seen[like] = others + [value]
            let title = (try? scope.evaluate(field.title)).map(Self.shown) ?? ""
            options.append(Choice(value: value, title: title.isEmpty ? Self.shown(value) : title))
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

/// A value that may be chosen.
struct Choice: Sendable {
    let value: JSONDocument
    /// What people are shown.
    let title: String
}

extension JSONViolation {
    /// In an author's words.
    init(_ said: SaidText, at pointer: String) {
        self.init(pointer: pointer, detail: said.text, translations: said.translations)
    }
}
