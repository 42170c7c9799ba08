import JSONDocument

/// A member of an event's data whose value is chosen from data:
/// `"x-options": {"of": "/menu/pizzas", "value": "/item/id", "title": "/item/name"}`.
final class FormField: Sendable {
    /// Where its schema stands in that of the event.
    let place: JSONPointer
    /// The list.
    let of: ValueTemplate
    /// Of each element of the list, what is sent.
    let value: ValueTemplate
    /// Of each element of the list, what people are shown.
    let title: ValueTemplate
    /// The same for fields that are chosen from the same.
    let source: String
    /// The values that its schema allows, of those that are alike; nil where it has no `enum`.
    private let allowed: [DataScope.Likeness: [JSONDocument]]?

    init(
        place: JSONPointer, of: ValueTemplate, value: ValueTemplate, title: ValueTemplate, source: String,
        allowed: [JSONDocument]?
    ) {
        self.place = place
        self.of = of
        self.value = value
        self.title = title
        self.source = source
        self.allowed = allowed.map { Dictionary(grouping: $0, by: DataScope.Likeness.init) }
    }

    /// Whether its schema allows a value, as far as an `enum` beside the choices says.
    func allows(_ value: JSONDocument) -> Bool {
        guard let allowed else { return true }
        return allowed[DataScope.Likeness(value)]?.contains(value) ?? false
    }

    static let orderKey = "x-order"
    static let optionsKey = "x-options"
    static let enumKey = "enum"

    /// The values that its author has written.
    private var templates: [ValueTemplate] { [of, value, title] }

    /// The services from which it is chosen.
    ///
    /// - Parameter named: the guards of the flow.
    func services(_ named: [NamedGuard]) -> Set<String> {
        var services: Set<String> = []
        var rest = templates.flatMap(\.guards)
        var values = templates
        var seen: Set<Int> = []
        while let guardian = rest.popLast() {
            values += guardian.values
            rest += guardian.inner
            switch guardian {
            case .named(let place) where seen.insert(place).inserted: rest.append(named[place].guard)
            case .shape(let path, _): values.append(.from(path, default: nil))
            default: break
            }
        }
        for value in values {
            _ = value.contains { path in
                if let service = path.service { services.insert(service) }
                return false
            }
        }
        return services
    }

    /// The values of the field in an event's data, with their places.
    func values(in data: JSONDocument) -> [(place: JSONPointer, value: JSONDocument)] {
        var found = [(place: JSONPointer.root, value: data)]
        var tokens = place.tokens[...]
        while let token = tokens.popFirst() {
            if token == "items" {
                found = found.flatMap { place, value in
                    (value.elements ?? []).enumerated().map { (place.appending($0.offset), $0.element) }
                }
            } else if let name = tokens.popFirst() {
                found = found.compactMap { place, value in
                    value[member: name].map { (place.appending(name), $0) }
                }
            }
        }
        return found
    }
}

extension FlowReader {
    /// Reads `x-order` and `x-options` of a schema, and of the schemas of its members and elements.
    ///
    /// - Parameter isForm: whether clients are shown the schema, for the data of an event.
    mutating func fields(of schema: FlowNode, isForm: Bool) -> [FormField] {
        guard SchemaRoom.mentions(in: schema.value, { $0.hasPrefix("x-") }) else { return [] }
        return fields(of: schema, at: .root, isForm: isForm)
    }

    /// - Parameter place: in the schema of the event; nil in a part that may describe anything.
    private mutating func fields(of schema: FlowNode, at place: JSONPointer?, isForm: Bool) -> [FormField] {
        checkOrder(of: schema)
        var fields: [FormField] = []
        for (key, node) in schema.members ?? [] {
            switch key {
            case FormField.optionsKey:
                if !isForm {
                    report(
                        node.place, .badValue,
                        "x-options counts only in the accepts of an event: nothing checks or shows the choices here; "
                            + "compare with the list in a rule or a guard, as in {\"in\": […, \"/menu/pizzas\"]}")
                } else if let place {
                    if let field = field(node, of: schema, at: place) { fields.append(field) }
                } else {
                    report(
                        node.place, .badValue,
                        "x-options stands beside the schema of a member in properties, or of the items of an array")
                }
            case "properties":
                for (name, node) in node.members ?? [] {
                    fields += self.fields(of: node, at: place?.appending(key).appending(name), isForm: isForm)
                }
            case "items" where node.isObject:
                fields += self.fields(of: node, at: place?.appending(key), isForm: isForm)
            case "patternProperties", "definitions", "dependencies":
                for (_, node) in node.members ?? [] { fields += self.fields(of: node, at: nil, isForm: isForm) }
            case "items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if", "then",
                "else", "allOf", "anyOf", "oneOf":
                for node in node.elements ?? [node] { fields += self.fields(of: node, at: nil, isForm: isForm) }
            case FormField.orderKey, SchemaTexts.sayKey: break
            default:
                // Keys that begin like that are free, and a misspelt one would check nothing.
                if key.hasPrefix("x-"), let name = guess(key, among: [FormField.orderKey, FormField.optionsKey]) {
                    report(node.place, .doubtfulSchema, "nothing reads \"\(key)\"", guess: name)
                }
            }
        }
        return fields
    }

    private mutating func checkOrder(of schema: FlowNode) {
        guard let written = schema[FormField.orderKey] else { return }
        let known = schema["properties"]?.value.members?.map(\.name) ?? []
        var seen: Set<String> = []
        for (name, node) in names(written, of: "a member") {
            if !known.contains(name) {
                report(
                    node.place, .undeclaredMember, "x-order names \"\(name)\", which is not in properties",
                    guess: guess(name, among: known))
            } else if !seen.insert(name).inserted {
                report(node.place, .badValue, "x-order names \"\(name)\" twice")
            }
        }
    }

    private static let optionKeys = ["of", "value", "title"]
    private static let scalars: SchemaOverlap.Kinds = [.text, .number, .bool, .null]

    private mutating func field(_ node: FlowNode, of schema: FlowNode, at place: JSONPointer) -> FormField? {
        guard node.isObject else {
            return refuse(
                node, .wrongType,
                "x-options is an object, as in {\"of\": \"/menu/pizzas\", \"value\": \"/item/id\", "
                    + "\"title\": \"/item/name\"}, not \(node.kind)")
        }
        checkKeys(of: node, allowed: Self.optionKeys, "x-options")
        let context = DataContext.noEvent
        let of = required("of", in: node, ": the list to choose from").flatMap { readArgument($0, context) }
        guard let of else { return nil }
        checkKind(of: of, .list, "x-options", at: node.place.appending("of"), context)
        var inner = context
        inner.item = elementSchema(of: of, context)
        guard let value = required("value", in: node, ": what is sent, as in \"/item/id\""),
            let sent = readOption(value, inner)
        else { return nil }
        checkDependence(of: of, at: node.place.appending("of"), inner)
        checkValue(
            sent, fits: schema.value, at: value.place, inner, .forbiddenValue, "the member's schema does not allow it")
        checkKind(of: sent, Self.scalars, "a choice", at: value.place, inner)
        var shown = sent
        if let title = node["title"] {
            guard let template = readOption(title, inner) else { return nil }
            shown = template
        }
        if let title = node["title"] { checkKind(of: shown, Self.scalars, "a title", at: title.place, inner) }
        return FormField(
            place: place, of: of, value: sent, title: shown, source: node.value.description,
            allowed: schema.value[member: FormField.enumKey]?.elements)
    }

    /// Reads what is taken of each element.
    private mutating func readOption(_ node: FlowNode, _ context: DataContext) -> ValueTemplate? {
        guard let template = readArgument(node, context) else { return nil }
        checkDependence(of: template, at: node.place, context)
        if !template.contains({ $0.root == .item || $0.root == .index }) {
            report(
                node.place, .badValue,
                "\(node.key) is the same for each element of the list; a member of the element is \"/item/id\"")
        }
        return template
    }

    /// Reports choices that change without a write, and what nobody is shown.
    private mutating func checkDependence(of template: ValueTemplate, at place: JSONPointer, _ context: DataContext) {
        if template.contains({ $0.root == .now }) {
            report(
                place, .badValue,
                "choices do not depend on /now: they would be others at every look; keep the day in a service")
        }
        checkIsShown(template, at: place, context)
    }
}

extension [String: ShapeRule] {
    /// The services of which these schemas of events show parts, sorted.
    ///
    /// - Parameter named: the guards of the flow.
    func shownServices(_ named: [NamedGuard]) -> [String] {
        var services: Set<String> = []
        for shape in values {
            for field in shape.fields { services.formUnion(field.services(named)) }
            if let texts = shape.texts { services.formUnion(texts.services) }
        }
        return services.sorted()
    }
}
