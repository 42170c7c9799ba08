import JSONDocument

/// Types of Swift that are declared beside each other, made of schemas.
struct SwiftScope {
    /// The enumeration around types of documents, which clients read and write back; nil for what is only sent or read.
    private let documents: String?
    private(set) var declarations: [String] = []
    /// What stands behind the enumeration, so that structures keep the initializer that Swift makes.
    private(set) var extensions: [String] = []
    private var names = TypeNames(reserving: reserved)

    private indirect enum Form: Equatable, Sendable {
        /// By its name, as `Int` and an enumeration.
        case named(String)
        /// One of ``structures``.
        case structure(Int)
        case optional(Form)
        case list(Form)
        case map(Form)

        static let any = Form.named("JSONValue")
    }

    private struct Property {
        let key: String
        let isRequired: Bool
        var form: Form
    }

    private struct Structure {
        let name: String
        /// Whether it keeps members that the schema allows without naming them.
        let isOpen: Bool
        var properties: [Property] = []
    }

    init(ofDocumentsIn documents: String? = nil) { self.documents = documents }

    /// Of the schema that is being declared.
    private var structures: [Structure] = []
    private var enumerations: [String] = []
    private var reader = TypeReader(true)
    /// Of parts that references name. While one is being made it has none, since an alias cannot name itself.
    private var forms: [String: Form?] = [:]

    mutating func take(_ name: String) -> String { names.take(name) }

    mutating func add(_ declaration: String) { declarations.append(declaration) }

    /// Declares the type of a schema, and those of its parts.
    ///
    /// - Returns: its name.
    @discardableResult
    mutating func declare(_ schema: JSONDocument, named wanted: String) -> String {
        let name = take(wanted)
        (structures, enumerations, forms, reader) = ([], [], [:], TypeReader(schema))
        forms[""] = Form?.none
        let form = form(of: reader.shape, named: name, as: "")
        breakCircles()
        if text(form) != name { add("typealias \(name) = \(text(form))") }
        for structure in structures {
            add(text(structure))
            if structure.isOpen { extensions.append(reading(structure)) }
        }
        declarations += enumerations
        return name
    }

    // MARK: From shapes

    /// - Parameters:
    ///   - name: of the type, where one is declared.
    ///   - part: what the name is taken for, by its pointer; nil when it is not taken yet.
    private mutating func form(of shape: TypeShape, named name: String, as part: String? = nil) -> Form {
        switch shape {
        case .any, .null: return .any
        case .boolean: return .named("Bool")
        case .integer: return .named("Int")
        case .number: return .named("Double")
        case .string: return .named("String")
        case .constants(let values): return form(ofOneOf: values, named: name, isTaken: part != nil)
        case .list(let element): return .list(form(of: element, named: name + "Element"))
        case .union(let shapes):
            let others = shapes.filter { $0 != .null }
            guard others.count == 1 else { return .any }
            let form = form(of: others[0], named: name, as: shapes.contains(.null) ? nil : part)
            return form == .any ? .any : Self.optional(form)
        case .part(let pointer): return form(ofPart: pointer, named: name)
        case .object(let members, let others):
            guard !members.isEmpty else { return .map(others.map { form(of: $0, named: name + "Value") } ?? .any) }
            // Swift takes two names for one that differ in how their accents are written.
            guard Set(members.map(\.name)).count == members.count else { return .map(.any) }
            let isOpen = documents != nil && others != nil
            return structure(members, named: part == nil ? take(name) : name, isOpen: isOpen, as: part)
        }
    }

    private static func optional(_ form: Form) -> Form { if case .optional = form { form } else { .optional(form) } }

    private mutating func structure(
        _ members: [TypeShape.Member], named name: String, isOpen: Bool, as part: String?
    ) -> Form {
        let place = structures.count
        structures.append(Structure(name: name, isOpen: isOpen))
        // Its parts may refer to it.
        if let part { forms[part] = .structure(place) }
        for member in members {
            let form = form(of: member.shape, named: name + TypeNames.type(member.name))
            structures[place].properties.append(
                Property(
                    key: member.name, isRequired: member.isRequired,
                    form: member.isRequired ? form : Self.optional(form)))
        }
        return .structure(place)
    }

    private mutating func form(ofPart pointer: String, named name: String) -> Form {
        if let known = forms[pointer] { return known ?? .any }
        let name = take(
            (structures.first?.name ?? name) + TypeNames.type(JSONPointer(parsing: pointer)?.tokens.last ?? ""))
        let shape = reader.parts[pointer] ?? .any
        forms[pointer] = Form?.none
        let form = form(of: shape, named: name, as: pointer)
        forms[pointer] = form
        return form
    }

    private mutating func form(ofOneOf values: [JSONDocument], named name: String, isTaken: Bool) -> Form {
        let others = values.filter { !$0.isNull }
        let form: Form
        if others.isEmpty {
            return .any
        } else if others.allSatisfy({ $0.string != nil }) {
            let isNamed = isTaken && others.count == values.count
            let name = isNamed ? name : take(name)
            guard let text = enumeration(others.compactMap(\.string), named: name) else { return .any }
            enumerations.append(text)
            form = .named(name)
        } else if others.allSatisfy({ $0.bool != nil }) {
            form = .named("Bool")
        } else if others.allSatisfy({ $0.double != nil }) {
            form = .named(others.allSatisfy { $0.int != nil } ? "Int" : "Double")
        } else {
            return .any
        }
        return others.count < values.count ? .optional(form) : form
    }

    /// A structure cannot contain itself, but by a list or a map: what would close a circle may be anything.
    private mutating func breakCircles() {
        for place in structures.indices {
            for index in structures[place].properties.indices {
                guard let target = Self.contained(structures[place].properties[index].form),
                    reaches(place, from: target)
                else { continue }
                let isRequired = structures[place].properties[index].isRequired
                structures[place].properties[index].form = isRequired ? .any : .optional(.any)
            }
        }
    }

    private static func contained(_ form: Form) -> Int? {
        switch form {
        case .structure(let place): place
        case .optional(let form): contained(form)
        case .named, .list, .map: nil
        }
    }

    private func reaches(_ goal: Int, from start: Int) -> Bool {
        var seen: Set<Int> = []
        var open = [start]
        while let place = open.popLast() {
            if place == goal { return true }
            guard seen.insert(place).inserted else { continue }
            open += structures[place].properties.compactMap { Self.contained($0.form) }
        }
        return false
    }

    // MARK: Text

    /// - Parameter scope: stands before the names that are declared here.
    private func text(_ form: Form, in scope: String = "") -> String {
        switch form {
        case .named(let name): Self.reserved.contains(name) ? name : scope + name
        case .structure(let place): scope + structures[place].name
        case .optional(let form): "\(text(form, in: scope))?"
        case .list(let form): "[\(text(form, in: scope))]"
        case .map(let form): "[String: \(text(form, in: scope))]"
        }
    }

    /// The properties with their names in Swift, and that of the other members.
    private func named(_ structure: Structure) -> (properties: [(name: String, property: Property)], others: String) {
        var names = TypeNames(reserving: Self.reservedCases)
        let named = structure.properties.map { (name: names.take(TypeNames.member($0.key)), property: $0) }
        return (named, names.take("others"))
    }

    private func text(_ structure: Structure) -> String {
        let (named, others) = named(structure)
        var parts = named.map { "var \(Self.escaped($0.name)): \(text($0.property.form))" }
        if structure.isOpen {
            parts.append(
                "/// Members that the schema allows without naming them.\nvar \(others): [String: JSONValue] = [:]")
        }
        if structure.isOpen || named.contains(where: { $0.name != $0.property.key }) {
            let cases = named.map { name, property in
                "case \(Self.escaped(name))\(name == property.key ? "" : " = \(Self.literal(property.key))")"
            }
            parts.append(SwiftTypes.block("enum CodingKeys: String, CodingKey", cases))
        }
        let isNullable = named.contains { $0.property.isRequired && isOptional($0.property.form) }
        if isNullable || structure.isOpen {
            let lines = named.map { name, property in
                "try container.encode\(property.isRequired ? "" : "IfPresent")(self.\(name), forKey: .\(name))"
            }
            let head = isNullable ? "/// With null for what is nil and must be there.\n" : ""
            parts.append(
                SwiftTypes.block(
                    "\(head)func encode(to encoder: any Encoder) throws",
                    ["var container = encoder.container(keyedBy: CodingKeys.self)"] + lines
                        + (structure.isOpen ? ["try self.\(others).encode(to: encoder)"] : [])))
        }
        return SwiftTypes.block("struct \(structure.name): Codable, Hashable, Sendable", parts)
    }

    /// How a structure that keeps other members is read.
    private func reading(_ structure: Structure) -> String {
        let (named, others) = named(structure)
        let scope = "\(documents ?? "")."
        let values = named.map { name, property in
            let isWhole = !isOptional(property.form)
            let form = if case .optional(let form) = property.form { form } else { property.form }
            return "    \(name): try container.decode\(isWhole ? "" : "IfPresent")("
                + "\(text(form, in: scope)).self, forKey: .\(name)),"
        }
        let rest =
            "    \(others): try [String: JSONValue](from: decoder).filter { CodingKeys(stringValue: $0.key) == nil })"
        let call = (["self.init("] + values + [rest]).joined(separator: "\n")
        return SwiftTypes.block(
            "extension \(scope)\(structure.name)",
            [
                SwiftTypes.block(
                    "init(from decoder: any Decoder) throws",
                    ["let container = try decoder.container(keyedBy: CodingKeys.self)\n\(call)"])
            ])
    }

    private func isOptional(_ form: Form) -> Bool { if case .optional = form { true } else { false } }

    /// An enumeration of texts; nil without any, or with two that Swift takes for one.
    func enumeration(_ values: [String], named name: String) -> String? {
        guard !values.isEmpty, Set(values).count == values.count else { return nil }
        var names = TypeNames(reserving: Self.reservedCases)
        let cases = values.map { value in
            let name = names.take(TypeNames.member(value))
            return "case \(Self.escaped(name))\(name == value ? "" : " = \(Self.literal(value))")"
        }
        return SwiftTypes.block("enum \(name): String, Codable, CaseIterable, Sendable", cases)
    }

    // MARK: Characters

    static func literal(_ text: String) -> String {
        let characters = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _
            where scalar.properties.generalCategory == .control || scalar.value >= 0x2028 && scalar.value <= 0x2029:
                "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }
        return "\"\(characters.joined())\""
    }

    static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Names that mean something inside these types.
    static let reserved: Set = [
        "Any", "AnyObject", "Array", "Bool", "CaseIterable", "Codable", "CodingKey", "CodingKeys", "Commands",
        "ConciergeClient", "Decodable", "Decoder", "Dictionary", "Double", "Encodable", "Encoder", "Equatable", "Error",
        "Flows", "Hashable", "Hasher", "Int", "JSONValue", "JourneyEvent", "Never", "Optional", "Protocol", "Self",
        "Sendable", "Services", "Set", "String", "Swift", "Type", "Void",
    ]

    /// Names that an enumeration has already, or that no backticks make usable.
    static let reservedCases: Set = [
        "self", "Self", "Type", "Protocol", "init", "none", "some", "event", "rawValue", "allCases", "hashValue",
        "stringValue", "intValue",
    ]

    private static let keywords: Set = [
        "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer", "deinit",
        "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
        "import",
        "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
        "try", "typealias", "var", "where", "while",
    ]
}
