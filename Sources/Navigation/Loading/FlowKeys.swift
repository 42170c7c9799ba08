import JSONDocument

/// The keys that an object of a flow file may have, and the schema of each value.
///
/// Each stands beside the definition that is read from such an object. The reader checks names against these tables,
/// and editors get them as a JSON Schema: see ``fileSchema``.
package struct FlowKeys: Sendable {
    /// In the order of messages.
    package let names: [String]
    private let values: [JSONDocument]
    let required: [String]

    init(_ keys: KeyValuePairs<String, JSONDocument>, required: [String] = []) {
        names = keys.map(\.key)
        values = keys.map(\.value)
        self.required = required
    }

    init(_ keys: FlowKeys, and others: KeyValuePairs<String, JSONDocument>, required: [String] = []) {
        names = keys.names + others.map(\.key)
        values = keys.values + others.map(\.value)
        self.required = keys.required + required
    }

    func schema(and further: KeyValuePairs<String, JSONDocument> = [:]) -> JSONDocument {
        let properties =
            zip(names, values).map { (name: $0, value: $1) } + further.map { (name: $0.key, value: $0.value) }
        return [
            "type": "object", "properties": JSONDocument(members: properties),
            "required": JSONDocument(required.map { JSONDocument($0) }), "additionalProperties": false,
        ]
    }

    /// The schemas to which those of the values refer, by their names.
    package static var definitions: [(name: String, value: JSONDocument)] {
        let tables: [(name: String, keys: FlowKeys)] = [
            ("flowTimeout", FlowTimeout.keys), ("migration", Migration.keys), ("screen", Screen.keys),
            ("back", BackRule.keys), ("choice", FlowState.choiceKeys), ("branch", Transition.branchKeys),
            ("flow", ChildFlow.keys), ("task", TaskState.keys), ("retry", TaskRetry.keys), ("final", Ending.keys),
            ("transition", Transition.keys), ("screenTimeout", FlowTimer.timeoutKeys),
            ("timer", FlowTimer.keys), ("clear", Action.clearKeys),
            ("remove", Action.removeKeys), ("merge", Action.mergeKeys), ("set", Action.setKeys),
            ("call", Action.callKeys), ("dependent", Invalidation.dependentKeys),
            ("backTransition", Transition.backKeys),
            ("operation", PatchOperation.keys), ("rule", FormRule.keys), ("record", Action.taskKeys),
            ("sideTask", SideTaskPolicy.keys), ("quantified", Guard.quantifiedKeys),
        ]
        let named: [(name: String, value: JSONDocument)] = [
            ("guard", ["anyOf": [["type": "string"], Guard.keys.schema()]]),
            ("namedGuard", ["anyOf": [["type": "string"], Guard.keys.schema(and: ["say": .text])]]),
            (
                "transitions",
                ["anyOf": [.ref("transition"), ["type": "array", "minItems": 1, "items": .ref("transition")]]]
            ),
            (
                "backTransitions",
                ["anyOf": [.ref("backTransition"), ["type": "array", "minItems": 1, "items": .ref("backTransition")]]]
            ),
            ("actions", .list(of: .ref("action"))),
            // Told apart by the key that only one of them has, so that an editor names the mistake in that one.
            (
                "action",
                [
                    "type": "object",
                    "if": ["required": ["op"]], "then": .ref("operation"),
                    "else": [
                        "if": ["required": ["merge"]], "then": .ref("merge"),
                        "else": [
                            "if": ["required": ["set"]], "then": .ref("set"),
                            "else": [
                                "if": ["required": ["call"]], "then": .ref("call"),
                                "else": [
                                    "if": ["required": ["task"]], "then": .ref("record"),
                                    "else": [
                                        "if": ["required": ["clear"]], "then": .ref("clear"), "else": .ref("remove"),
                                    ],
                                ],
                            ],
                        ],
                    ],
                ]
            ),
            ("state", state),
        ]
        return tables.map { ($0.name, $0.keys.schema()) } + named
    }

    /// The JSON Schema (draft 7) of a flow file. It knows the keys and the types of values; that names lead somewhere,
    /// only the loader knows.
    package static var fileSchema: JSONDocument {
        let schema = FlowDefinition.keys.schema(and: ["$schema": ["type": "string"]])
        return JSONDocument(
            members: [
                (name: "$schema", value: "http://json-schema.org/draft-07/schema#"), (name: "title", value: "A flow"),
            ] + (schema.members ?? []) + [
                (name: "definitions", value: JSONDocument(members: definitions))
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
        let screen: JSONDocument = ["if": ["properties": ["type": ["const": "screen"]]], "then": .ref("screen")]
        let others = kinds.map { kind -> JSONDocument in
            [
                "if": ["required": ["type"], "properties": ["type": ["const": JSONDocument(kind)]]],
                "then": .ref(kind),
            ]
        }
        members.append(("allOf", JSONDocument([screen] + others)))
        return JSONDocument(members: members)
    }
}

/// The schemas of values in flow files.
extension JSONDocument {
    static let name: JSONDocument = ["type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"]
    static let service: JSONDocument = ["type": "string"]
    static let positive: JSONDocument = ["type": "integer", "minimum": 1, "maximum": 1_000_000_000]
    static let duration: JSONDocument = ["type": "string", "pattern": JSONDocument(DurationText.pattern)]
    /// One text, or one in each of several languages.
    static let text: JSONDocument = [
        "anyOf": [
            ["type": "string"],
            ["type": "object", "minProperties": 1, "additionalProperties": ["type": "string"]],
        ]
    ]
    static let jsonSchema: JSONDocument = ["type": ["object", "boolean"]]
    static let plainPath: JSONDocument = ["type": "string", "pattern": "^/"]
    static let path: JSONDocument = ["anyOf": [plainPath, ["type": "object", "required": ["$pointer"]]]]
    static let ends: JSONDocument = [
        "type": "object", "patternProperties": [#"^done(\.|$)"#: .ref("transitions")], "additionalProperties": false,
    ]

    static func ref(_ name: String) -> JSONDocument { ["$ref": JSONDocument("#/definitions/\(name)")] }
    static func list(of item: JSONDocument) -> JSONDocument { ["type": "array", "items": item] }
    static func map(of value: JSONDocument, least: Int = 0) -> JSONDocument {
        ["type": "object", "minProperties": JSONDocument(least), "additionalProperties": value]
    }
    static func choice<Choice: RawRepresentable<String> & CaseIterable>(_: Choice.Type) -> JSONDocument {
        ["enum": JSONDocument(Choice.allCases.map { JSONDocument($0.rawValue) })]
    }
}
