import JSONDocument

/// The names that generators of clients make of a description, after the habits of openapi-generator, oapi-codegen and
/// swift-openapi-generator in Go, Swift, Java, Kotlin, C#, Rust, TypeScript and Python.
///
/// Letters count without case: some of these make files of types, and some file systems ignore case.
struct GeneratedNames {
    /// What two different parts of the description would both be called.
    private(set) var collisions: [String] = []
    private var types: [String: String] = [:]

    init(of document: JSONDocument) {
        let components = document[member: "components"]
        for (name, schema) in components?[member: "schemas"]?.members ?? [] {
            addType(Self.pascal(name), "schema \(name)")
            addParts(of: schema, Self.pascal(name))
        }
        for section in ["parameters", "responses"] {
            for (name, _) in components?[member: section]?.members ?? [] {
                addType(Self.pascal(name), "\(section) \(name)")
            }
        }
        for (path, methods) in document[member: "paths"]?.members ?? [] {
            for (method, operation) in methods.members ?? [] {
                add(operation, "\(method) \(path)", parameters: components?[member: "parameters"] ?? .null)
            }
        }
    }

    private mutating func add(_ operation: JSONDocument, _ place: String, parameters: JSONDocument) {
        let id = Self.pascal(operation[member: "operationId"]?.string ?? "")
        // oapi-codegen: New…Request is a function; openapi-generator: Api…Request.
        for name in ["\(id)Params", "\(id)JSONRequestBody", "\(id)Response", "\(id)Request", "Api\(id)Request"] {
            addType(name, "\(name) of \(place)")
        }
        var names = (operation[member: "parameters"]?.elements ?? []).map { parameter in
            let name = parameter[member: "$ref"]?.string?.split(separator: "/").last.map(String.init) ?? ""
            return parameters[member: name]?[member: "name"]?.string ?? ""
        }
        let contents = operation[member: "requestBody"]?[member: "content"]?.members ?? []
        // The argument with the body is named for its schema.
        names += Set(contents.compactMap { $0.value[member: "schema"]?[member: "$ref"]?.string })
            .compactMap { $0.split(separator: "/").last.map(String.init) }
        checkApart(names, "arguments of \(place)")
    }

    /// Objects and enumerations without a name of their own get one from where they are.
    private mutating func addParts(of schema: JSONDocument, _ name: String) {
        let properties = schema[member: "properties"]?.members ?? []
        checkApart(properties.map(\.name), "members of \(name)")
        // C# has no member of its class's name.
        for (member, _) in properties where Self.pascal(member).lowercased() == name.lowercased() {
            collisions.append("\(name) has a member \(member)")
        }
        for (member, part) in properties { addPart(part, name + Self.pascal(member)) }
        if let items = schema[member: "items"] { addPart(items, "\(name)Inner") }
        for keyword in ["oneOf", "anyOf", "allOf"] {
            for (number, part) in (schema[member: keyword]?.elements ?? []).enumerated() where part.members != nil {
                addPart(part, "\(name)\(keyword)\(number)")
            }
        }
    }

    private mutating func addPart(_ schema: JSONDocument, _ name: String) {
        guard schema.members != nil, schema[member: "$ref"] == nil else { return }
        if schema[member: "properties"] != nil || schema[member: "enum"] != nil { addType(name, "part \(name)") }
        addParts(of: schema, name)
    }

    /// A type, and its constructor in Go.
    private mutating func addType(_ name: String, _ origin: String) {
        if Self.reserved.contains(name) { collisions.append("\(origin) is a word of a language") }
        for made in [name, "New\(name)"] {
            let other = types.updateValue(origin, forKey: made.lowercased())
            if let other, other != origin { collisions.append("\(made): \(other), \(origin)") }
        }
    }

    private mutating func checkApart(_ names: [String], _ place: String) {
        let converted = names.map { Self.pascal($0).lowercased() }
        if Set(converted).count < converted.count { collisions.append("\(place): \(names.joined(separator: ", "))") }
    }

    /// `IfMatch` of `If-Match`, `StartJourney` of `startJourney`.
    static func pascal(_ name: String) -> String {
        name.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
            .map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Types that are there without an import in one of the languages, and words that none can be called.
    private static let reserved: Set = [
        "Any", "AnyObject", "Array", "Bool", "Boolean", "Box", "Byte", "Character", "Class", "Date", "Dictionary",
        "Double", "Enum", "Err", "Error", "Exception", "False", "File", "Float", "Function", "Int", "Integer",
        "Iterable", "List", "Long", "Map", "Never", "None", "Nothing", "Null", "Number", "Object", "Ok", "Option",
        "Optional", "Override", "Package", "Promise", "Protocol", "Record", "Result", "Self", "Set", "Short", "Some",
        "String", "Symbol", "Task", "Thread", "True", "Type", "Union", "Unit", "Vec", "Version", "Void",
        // What generators bring along.
        "APIClient", "ApiClient", "Client", "Configuration", "ServerConfiguration",
    ]
}
