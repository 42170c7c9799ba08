import JSONDocument

/// The keys that an object of a flow file may have, and the schema of each value.
///
/// The reader checks names against these tables, and editors get them as a JSON Schema: see ``fileSchema``.
package struct FlowKeys: Sendable {
    /// In the order of messages.
    package let names: [String]
    private let values: [JSONDocument]
    private let required: [String]

    private init(_ keys: KeyValuePairs<String, JSONDocument>, required: [String] = []) {
        names = keys.map(\.key)
        values = keys.map(\.value)
        self.required = required
    }

    private init(_ keys: FlowKeys, and others: KeyValuePairs<String, JSONDocument>, required: [String] = []) {
        names = keys.names + others.map(\.key)
        values = keys.values + others.map(\.value)
        self.required = keys.required + required
    }

    private func schema(and further: KeyValuePairs<String, JSONDocument> = [:]) -> JSONDocument {
        let properties =
            zip(names, values).map { (name: $0, value: $1) } + further.map { (name: $0.key, value: $0.value) }
        return [
            "type": "object", "properties": JSONDocument(members: properties),
            "required": JSONDocument(required.map { JSONDocument($0) }), "additionalProperties": false,
        ]
    }

    package static let flow = FlowKeys(
        [
            "id": name, "version": count, "description": text, "initial": name, "input": jsonSchema,
            "guards": map(of: ref("namedGuard")), "accepts": map(of: jsonSchema),
            "rules": map(of: list(of: ref("rule"))),
            "on": map(of: ref("transitions")), "entry": ref("actions"), "exit": ref("actions"),
            "timeout": ref("flowTimeout"), "in_flight": choice(InFlightPolicy.self),
            "migrations": list(of: ref("migration")), "states": map(of: ref("state"), least: 1),
            "backend": list(of: name),
            "owns": list(of: service), "concurrency": ["enum": ["last_write", "first_write"]],
            "bound_to": ["enum": ["user", "session"]], "always": ref("transitions"),
            "invalidates": map(of: list(of: ["type": "string", "pattern": "^/"])),
        ], required: ["id", "version", "initial", "states"])
    static let flowTimeout = FlowKeys(["idle": duration, "total": duration])
    static let migration = FlowKeys(
        ["from": count, "states": map(of: name), "patch": ref("actions")], required: ["from"])
    static let screen = FlowKeys([
        "type": ["const": "screen"], "screen": ["type": "string"], "title": text, "data": list(of: service),
        "accepts": map(of: jsonSchema), "rules": map(of: list(of: ref("rule"))), "on": map(of: ref("transitions")),
        "requires": list(of: ref("guard")), "otherwise": ref("transitions"), "always": ref("transitions"),
        "answers": list(of: ["type": "string", "pattern": "^/"]), "entry": ref("actions"), "exit": ref("actions"),
        "back": ["anyOf": [["type": "boolean"], ref("back")]],
        "timeout": ["anyOf": [duration, ref("screenTimeout")]], "backend": list(of: name),
    ])
    static let back = FlowKeys(["target": name], required: ["target"])
    static let branchChoice = FlowKeys(
        ["type": ["const": "choice"], "branches": list(of: ref("branch"))], required: ["branches"])
    static let branch = FlowKeys(
        [
            "guard": ref("guard"), "target": name, "nav": choice(NavigationVerb.self), "actions": ref("actions"),
            "params": ["type": "object"], "link": ["type": "boolean"],
        ], required: ["target"])
    static let childFlow = FlowKeys(
        [
            "type": ["const": "flow"], "flow": name, "version": count, "input": ["type": "object"], "on": ends,
        ], required: ["flow"])
    static let task = FlowKeys(
        [
            "type": ["const": "task"], "task": name, "input": [:], "title": text, "timeout": duration,
            "retry": ref("retry"), "back": ["type": "boolean"], "on": ends,
        ], required: ["task", "on"])
    static let retry = FlowKeys(
        [
            "attempts": ["type": "integer", "minimum": 1, "maximum": JSONDocument(FlowReader.mostAttempts)],
            "after": duration, "factor": ["type": "number", "minimum": 1, "maximum": 100],
        ], required: ["attempts"])
    static let final = FlowKeys(["type": ["const": "final"], "outcome": name, "output": [:]])
    static let transition = FlowKeys([
        "guard": ref("guard"), "target": name, "nav": choice(NavigationVerb.self), "actions": ref("actions"),
        "history": choice(HistoryPolicy.self), "params": ["type": "object"], "link": ["type": "boolean"],
    ])
    static let screenTimeout = FlowKeys(transition, and: ["after": duration], required: ["after"])
    static let clear = FlowKeys(["clear": service], required: ["clear"])
    static let remove = FlowKeys(["remove": service], required: ["remove"])
    static let merge = FlowKeys(["merge": path, "value": [:]], required: ["merge", "value"])
    static let call = FlowKeys(
        ["call": ["type": "string", "pattern": "^[^/]+/[^/]+$"], "with": [:]], required: ["call"])
    /// Which of them an operation takes depends on `op`.
    static let operation = FlowKeys(
        ["op": choice(PatchOperation.Kind.self), "path": path, "value": [:], "from": path], required: ["op", "path"])
    static let `guard` = FlowKeys([
        "service": service, "event": [:], "input": [:], "schema": jsonSchema, "all": list(of: ref("guard")),
        "any": list(of: ref("guard")), "not": ref("guard"), "compare": ["type": "array", "minItems": 3, "maxItems": 3],
        "is": path, "has": path,
    ])
    static let rule = FlowKeys(["guard": ref("guard"), "at": ["type": "string"], "say": text], required: ["guard"])

    /// The JSON Schema (draft 7) of a flow file. It knows the keys and the types of values; that names lead somewhere,
    /// only the loader knows.
    package static var fileSchema: JSONDocument {
        let tables: [(name: String, keys: FlowKeys)] = [
            ("flowTimeout", flowTimeout), ("migration", migration), ("screen", screen), ("back", back),
            ("choice", branchChoice), ("branch", branch), ("flow", childFlow), ("task", task), ("retry", retry),
            ("final", final), ("transition", transition), ("screenTimeout", screenTimeout), ("clear", clear),
            ("remove", remove), ("merge", merge), ("call", call), ("operation", operation),
            ("rule", rule),
        ]
        let named: [(name: String, value: JSONDocument)] = [
            ("guard", ["anyOf": [["type": "string"], `guard`.schema()]]),
            ("namedGuard", ["anyOf": [["type": "string"], `guard`.schema(and: ["say": text])]]),
            (
                "transitions",
                ["anyOf": [ref("transition"), ["type": "array", "minItems": 1, "items": ref("transition")]]]
            ),
            ("actions", list(of: ref("action"))),
            // Told apart by the key that only one of them has, so that an editor names the mistake in that one.
            (
                "action",
                [
                    "type": "object",
                    "if": ["required": ["op"]], "then": ref("operation"),
                    "else": [
                        "if": ["required": ["merge"]], "then": ref("merge"),
                        "else": [
                            "if": ["required": ["call"]], "then": ref("call"),
                            "else": ["if": ["required": ["clear"]], "then": ref("clear"), "else": ref("remove")],
                        ],
                    ],
                ]
            ),
            ("state", state),
        ]
        let schema = flow.schema(and: ["$schema": ["type": "string"]])
        return JSONDocument(
            members: [
                (name: "$schema", value: "http://json-schema.org/draft-07/schema#"), (name: "title", value: "A flow"),
            ] + (schema.members ?? []) + [
                (name: "definitions", value: JSONDocument(members: tables.map { ($0.name, $0.keys.schema()) } + named))
            ])
    }

    private static var state: JSONDocument {
        let kinds = ["choice", "flow", "task", "final"]
        var members: [(name: String, value: JSONDocument)] = [
            ("type", "object"),
            (
                "properties",
                ["type": ["enum": JSONDocument((["screen"] + kinds).map { JSONDocument($0) }), "default": "screen"]]
            ),
        ]
        // Without a type it is a screen.
        let screen: JSONDocument = ["if": ["properties": ["type": ["const": "screen"]]], "then": ref("screen")]
        let others = kinds.map { kind -> JSONDocument in
            [
                "if": ["required": ["type"], "properties": ["type": ["const": JSONDocument(kind)]]],
                "then": ref(kind),
            ]
        }
        members.append(("allOf", JSONDocument([screen] + others)))
        return JSONDocument(members: members)
    }

    private static let name: JSONDocument = ["type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"]
    private static let service: JSONDocument = ["type": "string"]
    private static let count: JSONDocument = ["type": "integer", "minimum": 1, "maximum": 1_000_000_000]
    private static let duration: JSONDocument = ["type": "string", "pattern": JSONDocument(DurationText.pattern)]
    /// One text, or one in each of several languages.
    private static let text: JSONDocument = [
        "anyOf": [
            ["type": "string"],
            ["type": "object", "minProperties": 1, "additionalProperties": ["type": "string"]],
        ]
    ]
    private static let jsonSchema: JSONDocument = ["type": ["object", "boolean"]]
    private static let path: JSONDocument = [
        "anyOf": [["type": "string", "pattern": "^/"], ["type": "object", "required": ["$pointer"]]]
    ]
    private static let ends: JSONDocument = [
        "type": "object", "patternProperties": [#"^done(\.|$)"#: ref("transitions")], "additionalProperties": false,
    ]

    private static func ref(_ name: String) -> JSONDocument { ["$ref": JSONDocument("#/definitions/\(name)")] }
    private static func list(of item: JSONDocument) -> JSONDocument { ["type": "array", "items": item] }
    private static func map(of value: JSONDocument, least: Int = 0) -> JSONDocument {
        ["type": "object", "minProperties": JSONDocument(least), "additionalProperties": value]
    }
    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(_: Choice.Type) -> JSONDocument {
        ["enum": JSONDocument(Choice.allCases.map { JSONDocument($0.rawValue) })]
    }
}
