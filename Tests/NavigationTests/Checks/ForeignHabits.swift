import Navigation
import Testing

/// Something that authors write who know another language: the smallest flow with it, and what to write instead.
struct ForeignHabit: Sendable, CustomTestStringConvertible {
    let name: String
    let flow: String
    let code: FlowProblemCode
    /// What the sentence says to write instead.
    let instead: String

    var testDescription: String { name }

    private init(_ name: String, _ code: FlowProblemCode, _ instead: String, _ flow: String) {
        self.name = name
        self.flow = flow
        self.code = code
        self.instead = instead
    }

    private static func flow(_ states: String, _ more: String = "") -> String {
        #"{"id": "f", "version": 1, "initial": "a", "states": {\#(states)}\#(more.isEmpty ? "" : ", " + more)}"#
    }

    private static let rest = #""b": {"on": {"leave": {"target": "z"}}}, "z": {"type": "final"}"#

    /// A screen that leads to another, with a further key.
    private static func screen(_ more: String, top: String = "") -> String {
        flow(#""a": {"on": {"go": {"target": "b"}}, \#(more)}, \#(rest)"#, top)
    }

    private static func top(_ more: String) -> String { flow(#""a": {"on": {"go": {"target": "b"}}}, \#(rest)"#, more) }

    private static func transition(_ more: String) -> String {
        flow(#""a": {"on": {"go": {"target": "b", \#(more)}}}, \#(rest)"#)
    }

    private static func guarded(_ guardian: String) -> String { transition(#""guard": \#(guardian)"#) }

    private static func action(_ action: String) -> String { transition(#""actions": [\#(action)]"#) }

    private static func value(_ value: String) -> String {
        action(#"{"op": "replace", "path": "/quote/text", "value": \#(value)}"#)
    }

    private static func member(_ schema: String) -> String {
        flow(
            #""a": {"accepts": {"go": {"type": "object", "properties": {"x": \#(schema)}}}, "on": {"go": {"target": "b"}}}, \#(rest)"#
        )
    }

    /// The second state instead of a screen.
    private static func second(_ state: String) -> String {
        flow(#""a": {"on": {"go": {"target": "b"}}}, "b": \#(state), "z": {"type": "final"}"#)
    }

    private static func task(_ more: String) -> String {
        second(#"{"type": "task", "task": "load", "on": {"done": {"target": "z"}}, \#(more)}"#)
    }

    private static func choice(_ more: String) -> String {
        second(#"{"type": "choice", "branches": [{"target": "z"}], \#(more)}"#)
    }

    static let all = statecharts + stateMachines + webFlows + forms + templates + ways

    /// XState and SCXML.
    private static let statecharts: [ForeignHabit] = [
        .init("after", .unknownKey, #""timers": [{"after""#, screen(#""after": {"1000": "b"}"#)),
        .init("invoke", .unknownKey, #"{"type": "task""#, screen(#""invoke": {"src": "load", "onDone": "b"}"#)),
        .init("onDone", .unknownKey, #""on": {"done""#, task(#""onDone": "z""#)),
        .init("onError", .unknownKey, #""done.failed""#, task(#""onError": "z""#)),
        .init("context", .unknownKey, #""owns""#, top(#""context": {"count": 0}"#)),
        .init("assign in an action", .missingKey, #"{"merge": "/order""#, action(#"{"assign": {"count": 1}}"#)),
        .init("states in a state", .unknownKey, #"{"type": "flow""#, screen(#""states": {"x": {}}"#)),
        .init("type parallel", .badValue, #"{"task": "send-mail""#, second(#"{"type": "parallel"}"#)),
        .init("type history", .badValue, #""nav": "pop_to""#, second(#"{"type": "history", "target": "a"}"#)),
        .init("type compound", .badValue, #"{"type": "flow""#, second(#"{"type": "compound"}"#)),
        .init("meta", .unknownKey, "comments", screen(#""meta": {"x": 1}"#)),
        .init("reenter", .unknownKey, #""nav": "replace""#, transition(#""reenter": true"#)),
        .init("guard with a type", .unknownKey, #""guard": "adult""#, guarded(#"{"type": "isAdult"}"#)),
        .init("action with a type", .missingKey, #"{"call": "#, action(#"{"type": "save"}"#)),
        .init("an action as a text", .wrongType, #"{"call": "#, action(#""save""#)),
        .init("raise", .missingKey, #""always""#, action(#"{"raise": "go"}"#)),
        .init(
            "an event for all", .badName, "each event", flow(#""a": {"on": {"*": {"target": "b"}}}, \#(rest)"#)),
        .init("no event", .badName, #""always""#, flow(#""a": {"on": {"": {"target": "b"}}}, \#(rest)"#)),
    ]

    /// Amazon States Language.
    private static let stateMachines: [ForeignHabit] = [
        .init("Next", .unknownKey, #""on": {"next""#, flow(#""a": {"Next": "b"}, \#(rest)"#)),
        .init("Choices", .unknownKey, #""branches": ["#, flow(#""a": {"Choices": []}, \#(rest)"#)),
        .init("Default", .unknownKey, #"the last of "branches""#, choice(#""Default": "z""#)),
        .init("Catch", .unknownKey, #""done.failed""#, task(#""Catch": [{"Next": "z"}]"#)),
        .init("type Wait", .badValue, #""timers""#, second(#"{"type": "Wait", "Seconds": 10}"#)),
        .init("Seconds", .unknownKey, #""timers""#, screen(#""Seconds": 10"#)),
        .init("type Parallel", .badValue, #"{"task": "send-mail""#, second(#"{"type": "Parallel"}"#)),
        .init("type Map", .badValue, #""$map""#, second(#"{"type": "Map"}"#)),
        .init("each", .unknownKey, #""/order/items/-""#, screen(#""each": "/basket/items""#)),
        .init("map", .unknownKey, #""$map""#, screen(#""map": "/basket/items""#)),
        .init("parallel", .unknownKey, #"{"task": "send-mail""#, screen(#""parallel": ["b"]"#)),
        .init("type Succeed", .badValue, #""final""#, second(#"{"type": "Succeed"}"#)),
        .init("Resource", .unknownKey, #""task": "load""#, task(#""Resource": "arn:x""#)),
        .init("ResultPath", .unknownKey, #""/output/…""#, task(#""ResultPath": "$.x""#)),
        .init("TimeoutSeconds", .unknownKey, #""timeout": "20s""#, task(#""TimeoutSeconds": 20"#)),
        .init(
            "Variable and StringEquals", .unknownKey, #"{"compare": ["#,
            guarded(#"{"Variable": "$.kind", "StringEquals": "x"}"#)),
        .init("a path with $", .textNotExpression, #"{"$from": "/event/x"}"#, value(#""$.event.x""#)),
        .init("States.Format", .textNotExpression, "$concat", value(#""States.Format('Dear {}', $.name)""#)),
        .init("{% … %}", .textNotExpression, "$multiply", value(#""{% $total * 2 %}""#)),
    ]

    /// Spring Web Flow and BPMN.
    private static let webFlows: [ForeignHabit] = [
        .init("type view-state", .badValue, #""screen""#, second(#"{"type": "view-state", "view": "x"}"#)),
        .init("view", .unknownKey, #""screen": "Address""#, screen(#""view": "address.html""#)),
        .init("on-entry", .unknownKey, "entry", screen(#""on-entry": []"#)),
        .init("action", .unknownKey, "actions", transition(#""action": "save""#)),
        .init("secured", .unknownKey, #""requires""#, screen(#""secured": "ROLE_USER""#)),
        .init("type userTask", .badValue, #""screen""#, second(#"{"type": "userTask"}"#)),
        .init("type serviceTask", .badValue, #""task""#, second(#"{"type": "serviceTask"}"#)),
        .init("type exclusiveGateway", .badValue, #""branches""#, second(#"{"type": "exclusiveGateway"}"#)),
        .init("camunda:assignee", .unknownKey, #""requires""#, screen(#""camunda:assignee": "demo""#)),
        .init(
            "conditionExpression", .unknownKey, "guard", transition(##""conditionExpression": "${total > 1}""##)),
        .init("= total * 2", .textNotExpression, "$multiply", value(#""= basket.total * 2""#)),
    ]

    /// SurveyJS, JSON Schema forms, Keycloak and Kratos.
    private static let forms: [ForeignHabit] = [
        .init("visibleIf", .unknownKey, #""guard""#, screen(#""visibleIf": "{kind} = 'x'""#)),
        .init("calculatedValues", .unknownKey, "$multiply", top(#""calculatedValues": []"#)),
        .init("elements", .unknownKey, #""accepts""#, screen(#""elements": [{"type": "text"}]"#)),
        .init("validators", .unknownKey, #""rules""#, screen(#""validators": []"#)),
        .init("nodes", .unknownKey, #""states""#, top(#""nodes": []"#)),
        .init("required: true", .badSchema, #""required": ["name"]"#, member(#"{"type": "string", "required": true}"#)),
        .init("$ref to a file", .badSchema, #""definitions""#, member(##"{"$ref": "address.json"}"##)),
        .init("type email", .badSchema, #""format": "email""#, member(#"{"type": "email"}"#)),
        .init("nullable", .doubtfulSchema, #"["string", "null"]"#, member(#"{"type": "string", "nullable": true}"#)),
        .init("choices", .doubtfulSchema, #""enum""#, member(#"{"type": "string", "choices": ["a"]}"#)),
        .init(
            "visibleIf in a schema", .doubtfulSchema, #""rules""#, member(#"{"type": "string", "visibleIf": "{y}"}"#)),
        .init("errorMessage", .doubtfulSchema, #""x-say""#, member(#"{"type": "string", "errorMessage": "no"}"#)),
        .init("min", .doubtfulSchema, #""minimum""#, member(#"{"type": "integer", "min": 1}"#)),
        .init("ui:order", .doubtfulSchema, #""x-order""#, member(#"{"type": "object", "ui:order": ["y"]}"#)),
        .init(
            "rules without accepts", .missingKey, #""accepts": {"go""#,
            screen(#""rules": {"go": [{"guard": {"has": "/event/x"}, "say": "x"}]}"#)),
    ]

    /// JavaScript and templates.
    private static let templates: [ForeignHabit] = [
        .init("a && b", .unknownGuard, #"{"compare": ["#, guarded(#""a && b""#)),
        .init("==", .unknownGuard, #"{"compare": ["#, guarded(#""quote.text == 'x'""#)),
        .init("$eq", .unknownKey, #"{"compare": ["#, guarded(#"{"$eq": ["/quote/text", "x"]}"#)),
        .init("$and", .unknownKey, #"{"all""#, guarded(#"{"$and": [{"has": "/quote/text"}]}"#)),
        .init("guards in an array", .wrongType, #"{"all""#, guarded(#"[{"has": "/quote/text"}]"#)),
        .init(
            "quote.text in a compare", .textNotExpression, #""/quote/text""#,
            guarded(#"{"compare": ["quote.text", "==", "x"]}"#)),
        .init("${…} in a value", .textNotExpression, #"{"$from": "/quote/text"}"#, value(##""Hello ${quote.text}""##)),
        .init("{{…}} in a value", .textNotExpression, #"{"$from": "/event/name"}"#, value(#""Hello {{event.name}}""#)),
        .init("/basket/total + 1", .textNotExpression, "$add", value(#""/basket/total + 1""#)),
        .init("now()", .textNotExpression, #"{"$from": "/now"}"#, value(#""now()""#)),
        .init("$now", .unknownKey, #"{"$from": "/now"}"#, value(##"{"$now": true}"##)),
        .init("$set", .missingKey, #"{"merge""#, action(##"{"$set": {"quote.text": "x"}}"##)),
    ]

    /// Places of data, and ways.
    private static let ways: [ForeignHabit] = [
        .init(
            "-1 for the last element", .valueNever, ##"{"$pointer": ["basket", "items", {"$subtract""##,
            value(#"{"$from": "/basket/items/-1/name"}"#)),
        .init(
            "-1 where no schema is known", .valueNever, ##"{"$pointer": ["limits", "list", {"$subtract""##,
            value(#"{"$from": "/limits/list/-1"}"#)),
        .init(
            "-1 in an action", .forbiddenPath, ##"{"$pointer": ["##,
            action(#"{"op": "remove", "path": "/basket/items/-1"}"#)),
        .init("- for the last element", .valueNever, #"{"$pointer": ["#, value(#"{"$from": "/basket/items/-/name"}"#)),
        .init("* for all elements", .valueNever, "$map", value(#"{"$from": "/basket/items/*/name"}"#)),
        .init("length", .valueNever, "$count", guarded(#"{"compare": ["/basket/items/length", ">", 0]}"#)),
        .init(
            "[0]", .valueNever, "/0", value(#"{"$from": "/basket/items[0]/name"}"#)),
        .init(
            "params that nothing gives", .valueNever, #""params": {"id""#,
            second(
                #"{"on": {"go": {"target": "z", "actions": [{"op": "replace", "path": "/quote/text", "value": {"$from": "/frame/id"}}]}}}"#
            )),
        .init(
            "a screen that pushes itself", .endlessPush, #""nav": "replace""#,
            flow(#""a": {"on": {"more": {"target": "a"}, "leave": {"target": "z"}}}, "z": {"type": "final"}"#)),
        .init(
            "going back by pushing", .endlessPush, #""nav": "pop_to""#,
            flow(#""a": {"on": {"go": {"target": "b"}}}, "b": {"on": {"again": {"target": "a"}}}"#)),
        .init(
            "trying again by pushing", .endlessPush, #""nav": "pop_to""#,
            flow(
                #""a": {"on": {"go": {"target": "t"}}}, "t": {"type": "task", "task": "load", "on": {"done.wrong": {"target": "a"}, "done": {"target": "z"}}}, "z": {"type": "final"}"#
            )),
        .init("data by a path", .unknownService, "by its name", screen(#""data": ["/basket/items"]"#)),
        .init("data of an end", .unknownKey, #""output""#, second(#"{"type": "final", "data": {"x": 1}}"#)),
    ]
}
