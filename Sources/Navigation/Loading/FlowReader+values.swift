import JSONDocument

extension FlowReader {
    /// Reads a path at which there may be a value.
    mutating func readPath(_ text: String, at place: JSONPointer, _ context: DataContext) -> DataPath? {
        guard let path = DataPath(text) else {
            report(
                place, .badPointer,
                "\"\(text)\" is not a path; a path begins with \"/\" and a service, \"event\", \"input\", \"output\", "
                    + "\"frame\" or \"now\"")
            return nil
        }
        switch path.root {
        case .service(let name):
            guard let service = services[name] else {
                report(
                    place, .unknownService, "there is no service \"\(name)\"",
                    guess: guess(name, among: services.names + DataPath.reservedNames))
                return nil
            }
            checkRoom(for: path, in: service.schema, at: place, of: name)
        case .event:
            switch context.event {
            case .never: report(place, .valueNever, "no event has data here")
            case .maybe: break
            case .shaped(let schema): checkRoom(for: path, in: schema, at: place, of: "the event")
            }
        case .input: checkRoom(for: path, in: inputSchema, at: place, of: "the flow's input")
        case .output:
            if !context.hasOutput { report(place, .valueNever, "no child flow has ended here") }
        case .frame: break
        case .now:
            if !path.pointer.tokens.isEmpty { report(place, .valueNever, "now is a text, with nothing in it") }
        }
        return path
    }

    private mutating func checkRoom(
        for path: DataPath, in schema: JSONDocument?, at place: JSONPointer, of what: String
    ) {
        guard let schema, SchemaRoom(schema).isForbidden(path.pointer) else { return }
        report(
            place, .valueNever, "there is never a value at \(path.text): the schema of \(what) has no room for it",
            guess: SchemaRoom(schema).guess(for: path.pointer).map { guess in
                let root = path.text.split(separator: "/", omittingEmptySubsequences: true).first ?? ""
                return "/\(root)\(guess)"
            })
    }

    mutating func readTemplate(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> ValueTemplate? {
        switch document.kind {
        case .array:
            let elements = (document.elements ?? []).enumerated().map { index, element in
                readTemplate(element, at: place.appending(index), context) ?? .literal(element)
            }
            return elements.allSatisfy(\.isLiteral) ? .literal(document) : .array(elements)
        case .object:
            if document[member: "$from"] != nil { return readHole(document, at: place, context) }
            let members = (document.members ?? []).map { name, value in
                (name: name, value: readTemplate(value, at: place.appending(name), context) ?? .literal(value))
            }
            return members.allSatisfy(\.value.isLiteral) ? .literal(document) : .object(members)
        default: return .literal(document)
        }
    }

    private mutating func readHole(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> ValueTemplate? {
        checkKeys(of: document, at: place, allowed: ["$from", "default"], of: "a value from elsewhere")
        let fallback = document[member: "default"].flatMap {
            readTemplate($0, at: place.appending("default"), context)
        }
        guard let text = text("$from", in: document, at: place),
            let path = readPath(text, at: place.appending("$from"), context)
        else { return nil }
        return .from(path, default: fallback)
    }
}

extension ValueTemplate {
    var isLiteral: Bool {
        if case .literal = self { true } else { false }
    }
}
