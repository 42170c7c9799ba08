import JSONDocument
import Navigation
import Testing

/// For each kind of problem, flows that have it, and where.
struct ProblemExample: Sendable, CustomTestStringConvertible {
    let code: FlowProblemCode
    let files: [String]
    let pointer: String
    var guess: String?
    var severity: FlowProblem.Severity = .error

    var testDescription: String { "\(code.rawValue) at \(pointer)" }

    init(
        _ code: FlowProblemCode, _ pointer: String, guess: String? = nil, severity: FlowProblem.Severity = .error,
        _ files: String...
    ) {
        self.code = code
        self.pointer = pointer
        self.guess = guess
        self.severity = severity
        self.files = files
    }

    /// A flow of the given states, and more members if there are any.
    private static func flow(_ states: String, _ more: String = "", version: Int = 1) -> String {
        #"{"id": "f", "version": \#(version), "initial": "a", "states": {\#(states)}\#(more.isEmpty ? "" : ", " + more)}"#
    }

    /// A screen with one event.
    private static func screen(_ transition: String, _ more: String = "") -> String {
        flow(#""a": {"on": {"go": \#(transition)}\#(more.isEmpty ? "" : ", " + more)}"#)
    }

    /// Choices that follow each other.
    private static func row(_ count: Int, to target: String) -> String {
        func name(_ number: Int) -> String { "c\(String(100 + number).dropFirst())" }
        return (0..<count).map { number in
            let next = number == count - 1 ? target : name(number + 1)
            return #""\#(name(number))": {"type": "choice", "branches": [{"target": "\#(next)"}]}, "#
        }.joined()
    }

    private static func action(_ action: String) -> String { screen(#"{"actions": [\#(action)]}"#) }

    private static let child =
        #"{"id": "child", "version": 1, "initial": "a", "input": {"required": ["x"], "properties": {"x": {}}, "additionalProperties": false}, "states": {"a": {"on": {"go": {"target": "yes"}}}, "yes": {"type": "final"}}}"#

    private static func parent(_ state: String) -> String { flow(#""a": {"type": "flow", \#(state)}"#) }

    private static func task(_ more: String, on: String = #"{"done": {"target": "a"}}"#) -> String {
        flow(
            #""a": {"on": {"go": {"target": "t"}}}, "t": {"type": "task", "task": "work", "on": \#(on)\#(more.isEmpty ? "" : ", " + more)}"#
        )
    }

    /// A screen with a timer that sets a text, and these members.
    private static func timer(_ members: String) -> String {
        screen(
            #"{"target": "a"}"#,
            #""timers": [{"actions": [{"op": "replace", "path": "/quote/text", "value": "x"}], \#(members)}]"#)
    }

    private static let timers: [ProblemExample] = [
        .init(.missingKey, "/states/a/timers/0", timer(#""times": 3, "every": "1h""#)),
        .init(.missingKey, "/states/a/timers/0/times", timer(#""after": "1h", "times": 3"#)),
        .init(.badValue, "/states/a/timers/0/times", timer(#""after": "1h", "every": "1h", "times": 0"#)),
        .init(.badDuration, "/states/a/timers/0/every", timer(#""after": "1h", "every": "10ms""#)),
        .init(.badDuration, "/states/a/timers/0/after", timer(#""after": "soon""#)),
        .init(.badValue, "/states/a/timers/0/at", timer(#""after": "1h", "at": "2026-01-31""#)),
        .init(.badValue, "/states/a/timers/0/at", timer(#""at": "tomorrow""#)),
        .init(.badValue, "/states/a/timers/0/at", timer(#""at": {"$time": {"from": "/now", "plus": "P1D"}}"#)),
        .init(.badValue, "/states/a/timers/0/at", timer(#""at": {"$count": {"$from": "/quote/text"}}"#)),
        .init(.doubtfulTime, "/states/a/timers/0/at", severity: .warning, timer(#""at": "/quote/text""#)),
        .init(.doubtfulTime, "/states/a/timers/0/at", severity: .warning, timer(#""at": {"$from": "/limits/when"}"#)),
        .init(.badName, "/states/a/timers/0/id", timer(#""after": "1h", "id": "1""#)),
        .init(.unknownKey, "/states/a/timers/0/afer", guess: "after", timer(#""after": "1h", "afer": "2h""#)),
        .init(.unknownState, "/states/a/timers/0/target", timer(#""after": "1h", "target": "x""#)),
        .init(.wrongType, "/states/a/timers", screen(#"{"target": "a"}"#, #""timers": {"after": "1h"}"#)),
        .init(
            .uselessTransition, "/states/a/timers/0", severity: .warning,
            screen(#"{"target": "a"}"#, #""timers": [{"after": "1h"}]"#)),
        .init(
            .badValue, "/timers/1/id",
            flow(
                #""a": {"on": {"go": {"target": "a"}}}"#,
                #""timers": [{"after": "1h", "id": "x", "target": "a"}, {"after": "2h", "id": "x", "target": "a"}]"#)),
        .init(
            .unknownKey, "/states/b/timers",
            flow(#""a": {"on": {"go": {"target": "b"}}}, "b": {"type": "final", "timers": []}"#)),
        .init(
            .unreachableTime, "/timers/0/after", severity: .warning,
            flow(
                #""a": {"on": {"go": {"target": "a"}}}"#,
                #""lives": "60d", "timers": [{"after": "61d", "target": "a"}]"#)),
        .init(.badDuration, "/lives", flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""lives": "long""#)),
        .init(.badValue, "/lives", flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""lives": "60d""#)),
    ]

    static let all = timers + lists + texts + others

    private static let others: [ProblemExample] = [
        .init(
            .missingKey, "/states/t",
            flow(#""a": {"on": {"go": {"target": "t"}}}, "t": {"type": "task", "on": {"done": {"target": "a"}}}"#)),
        .init(.unknownKey, "/states/t/inputs", guess: "input", task(#""inputs": {}"#)),
        .init(.badDuration, "/states/t/timeout", task(#""timeout": 20"#)),
        .init(.wrongType, "/states/t/back", task(#""back": {"target": "a"}"#)),
        .init(.wrongType, "/states/t/retry", task(#""retry": 3"#)),
        .init(.unknownKey, "/states/t/retry/attemps", guess: "attempts", task(#""retry": {"attemps": 3}"#)),
        .init(.missingKey, "/states/t/retry", task(#""retry": {"after": "1s"}"#)),
        .init(.badValue, "/states/t/retry/attempts", task(#""retry": {"attempts": 5000}"#)),
        .init(.badValue, "/states/t/retry/factor", task(#""retry": {"attempts": 3, "factor": 0.5}"#)),
        .init(
            .unknownEvent, "/states/t/on/ok", guess: "done.ok",
            task("", on: #"{"ok": {"target": "a"}, "done": {"target": "a"}}"#)),
        .init(.missingKey, "/states/t/on", task("", on: #"{"done.ok": {"target": "a"}}"#)),
        .init(.missingKey, "/states/t/on", task(#""timeout": "9s""#, on: #"{"done.failed": {"target": "a"}}"#)),
        .init(
            .unknownOutcome, "/states/t/on/done.timeout",
            task("", on: #"{"done.timeout": {"target": "a"}, "done": {"target": "a"}}"#)),
        .init(
            .valueNever, "/states/t/on/done/actions/0/value/$from",
            task(
                "",
                on:
                    #"{"done": {"target": "a", "actions": [{"op": "replace", "path": "/quote/text", "value": {"$from": "/event/x"}}]}}"#
            )),
        .init(
            .misplacedVerb, "/states/a/on/go/target",
            flow(
                #""a": {"on": {"go": {"target": "t", "nav": "pop_to"}}}, "t": {"type": "task", "task": "work", "on": {"done": {"target": "a"}}}"#
            )),
        .init(
            .unknownOutcome, "/states/t/on/done.payed", guess: "done.paid",
            task(
                #""outcomes": {"paid": {}}"#,
                on: #"{"done.payed": {"target": "a"}, "done": {"target": "a"}}"#)),
        .init(
            .missingKey, "/states/t/outcomes/paid",
            task(#""outcomes": {"paid": {}}"#, on: #"{"done.failed": {"target": "a"}}"#)),
        .init(.badName, "/states/t/outcomes/failed", task(#""outcomes": {"paid": {}, "failed": {}}"#)),
        .init(
            .undeclaredMember, "/states/t/on/done.paid/actions/0/value/$from", guess: "/output/reference",
            task(
                #""outcomes": {"paid": {"properties": {"reference": {"type": "string"}}}}"#,
                on:
                    #"{"done.paid": {"target": "a", "actions": [{"op": "replace", "path": "/quote/text", "value": {"$from": "/output/referense"}}]}, "done": {"target": "a"}}"#
            )),
        .init(
            .forbiddenValue, "/states/t/on/done.paid/actions/0/value",
            task(
                #""outcomes": {"paid": {"properties": {"cents": {"type": "integer"}}}}"#,
                on:
                    #"{"done.paid": {"target": "a", "actions": [{"op": "replace", "path": "/quote/text", "value": {"$from": "/output/cents"}}]}, "done": {"target": "a"}}"#
            )),
        .init(
            .closedTarget, "/states/t/on/done", severity: .warning,
            flow(
                #""a": {"on": {"go": {"target": "t"}}}, "b": {"requires": [{"has": "/limits/x"}], "on": {"go": {"target": "a"}}}, "t": {"type": "task", "task": "work", "on": {"done": {"target": "b"}}}"#
            )),
        .init(
            .noLastTransition, "/states/t/on/done", severity: .warning,
            task("", on: #"{"done": [{"guard": {"is": "/limits/x"}, "target": "a"}]}"#)),
        .init(
            .fleetingEvent, "/states/b/on/paid", severity: .warning,
            flow(
                #""a": {"on": {"go": {"target": "b"}}}, "b": {"backend": ["paid"], "on": {"paid": {"target": "a"}, "stop": {"target": "a"}}}"#
            )),
        .init(
            .unknownTask, "/tasks/send-mali", guess: "send-mail", severity: .warning,
            flow(
                #""a": {"on": {"go": {"actions": [{"task": "send-mail"}]}}}"#,
                #""tasks": {"send-mali": {"timeout": "1h"}}"#)),
        .init(.unknownKey, "/states/a/on/go/actions/0/wiht", guess: "with", action(#"{"task": "x", "wiht": 1}"#)),
        .init(.unknownEvent, "/states/a/backend/0", guess: "go", screen(#"{"target": "a"}"#, #""backend": ["og"]"#)),
        .init(
            .unknownEvent, "/backend/0", guess: "go",
            flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""backend": ["og"]"#)),
        .init(.wrongType, "/states/a/backend/0", screen(#"{"target": "a"}"#, #""backend": [7]"#)),
        .init(.notJSON, "", #"{"id": "f""#),
        .init(.notJSON, "/id", #"{"id": "f", "id": "g"}"#),
        .init(.wrongType, "", "[]"),
        .init(.wrongType, "/states/a", flow(#""a": 7"#)),
        .init(.wrongType, "/states/a/title", flow(#""a": {"title": 7, "on": {"go": {"target": "a"}}}"#)),
        .init(.wrongType, "/states/a/on/go", screen("7")),
        .init(.unknownKey, "/statse", guess: "states", #"{"id": "f", "version": 1, "initial": "a", "statse": {}}"#),
        .init(.unknownKey, "/states/a/titel", guess: "title", screen(#"{"target": "a"}"#, #""titel": "x""#)),
        .init(.unknownKey, "/states/a/on/go/gaurd", guess: "guard", screen(#"{"target": "a", "gaurd": "x"}"#)),
        .init(
            .unknownKey, "/states/a/on/go/actions/0/valeu", guess: "value",
            action(#"{"op": "add", "path": "/quote/text", "value": "x", "valeu": 1}"#)),
        .init(.missingKey, "", #"{"id": "f", "initial": "a", "states": {"a": {"on": {"go": {"target": "a"}}}}}"#),
        .init(.missingKey, "/states/a/on/go/actions/0", guess: "clear", action(#"{"claer": "quote"}"#)),
        .init(.missingKey, "/in_flight", flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""in_flight": "migrate""#)),
        .init(
            .badName, "/id",
            #"{"id": "f g", "version": 1, "initial": "a", "states": {"a": {"on": {"go": {"target": "a"}}}}}"#),
        .init(.badName, "/states/ä", flow(#""a": {"on": {"go": {"target": "a"}}}, "ä": {}"#)),
        .init(
            .badName, "/on/back", flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""on": {"back": {"actions": []}}"#)),
        .init(.misplacedVerb, "/states/a/on/back/target", flow(#""a": {"on": {"back": {"target": "a"}}}"#)),
        .init(.misplacedVerb, "/states/a/on/back/1/nav", flow(#""a": {"on": {"back": [{}, {"nav": "pop"}]}}"#)),
        .init(
            .badValue, "/states/a/on/back", flow(#""a": {"back": false, "on": {"back": {}, "go": {"target": "a"}}}"#)),
        .init(
            .undeclaredMember, "/states/a/on/back/actions/0/value/$from", guess: "/event/name",
            flow(
                #""a": {"accepts": {"back": {"properties": {"name": {}}}}, "on": {"back": {"actions": [{"set": "/limits/x", "value": {"$from": "/event/nmae"}}]}, "go": {"target": "a"}}}"#
            )),
        .init(
            .unknownEvent, "/states/a/accepts/back",
            flow(#""a": {"accepts": {"back": {}}, "on": {"go": {"target": "a"}}}"#)),
        .init(
            .unknownEvent, "/states/a/backend/0",
            flow(#""a": {"backend": ["back"], "on": {"back": {}, "go": {"target": "a"}}}"#)),
        .init(.hiddenService, "/states/a/data/0", screen(#"{"target": "a"}"#, #""data": ["vault"]"#)),
        .init(.missingKey, "/states/a/on/go/actions/0", action(#"{"set": "/limits/x"}"#)),
        .init(.badValue, "/states/a/on/go/actions/0/op", action(#"{"op": "set", "path": "/limits/x", "value": 1}"#)),
        .init(
            .unknownKey, "/states/a/on/go/actions/0/path",
            action(#"{"set": "/limits/x", "value": 1, "path": "/limits"}"#)),
        .init(
            .forbiddenValue, "/states/a/on/go/actions/0/value", action(#"{"set": "/profile/name", "value": 7}"#)),
        .init(.readOnlyService, "/states/a/on/go/actions/0/set", action(#"{"set": "/user", "value": {}}"#)),
        .init(
            .missingKey, "/invalidates/~1limits~1low/0",
            flow(
                #""a": {"on": {"go": {"target": "a"}}}"#,
                #""invalidates": {"/limits/low": [{"guard": {"has": "/limits/high"}}]}"#)),
        .init(
            .valueNever, "/invalidates/~1limits~1low/0/guard/has",
            flow(
                #""a": {"on": {"go": {"target": "a"}}}"#,
                #""invalidates": {"/limits/low": [{"path": "/limits/high", "guard": {"has": "/event/x"}}]}"#)),
        .init(
            .valueNever, "/states/a/answers/0/$pointer/1/$from",
            screen(
                #"{"target": "a"}"#, #""answers": [{"$pointer": ["limits", {"$from": "/event/index"}, "name"]}]"#)),
        .init(
            .unknownService, "/states/a/answers/0/$pointer/0", guess: "limits",
            screen(#"{"target": "a"}"#, #""answers": [{"$pointer": ["limts", {"$from": "/frame/index"}]}]"#)),
        .init(.badValue, "/version", flow(#""a": {"on": {"go": {"target": "a"}}}"#, version: 0)),
        .init(.badValue, "/states/a/type", guess: "choice", flow(#""a": {"type": "choise"}"#)),
        .init(.badValue, "/states/a/on/go/nav", guess: "present", screen(#"{"target": "a", "nav": "presnt"}"#)),
        .init(
            .badValue, "/states/a/on/go/actions/0/op", guess: "replace",
            action(#"{"op": "replcae", "path": "/quote/text", "value": "x"}"#)),
        .init(.badValue, "/states/a/on/go/actions/0/path", action(#"{"op": "remove", "path": "/quote"}"#)),
        .init(
            .badValue, "/states/a/on/go/guard/compare/1",
            screen(#"{"target": "a", "guard": {"compare": ["/now", "=", "/now"]}}"#)),
        .init(
            .badDuration, "/timeout/idle", flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""timeout": {"idle": "30"}"#)
        ),
        .init(.badDuration, "/states/a/timeout", screen(#"{"target": "a"}"#, #""timeout": 30"#)),
        .init(
            .badSchema, "/states/a/accepts/go/type",
            screen(#"{"target": "a"}"#, #""accepts": {"go": {"type": "text"}}"#)),
        .init(
            .badSchema, "/guards/g/schema",
            flow(
                #""a": {"on": {"go": {"target": "a", "guard": "g"}}}"#,
                #""guards": {"g": {"service": "quote", "schema": 7}}"#)),
        .init(
            .doubtfulSchema, "/states/a/accepts/go/properties/n/minlength", severity: .warning,
            screen(#"{"target": "a"}"#, #""accepts": {"go": {"properties": {"n": {"minlength": 1}}}}"#)),
        .init(.badPointer, "/states/a/on/go/actions/0/path", action(#"{"op": "add", "path": "quote", "value": 1}"#)),
        .init(.badPointer, "/states/a/on/go/actions/0/path", action(#"{"op": "add", "path": "/event/x", "value": 1}"#)),
        .init(
            .badPointer, "/states/a/on/go/actions/0/value/$from",
            action(#"{"op": "add", "path": "/quote/text", "value": {"$from": "event/text"}}"#)),
        .init(
            .textNotExpression, "/states/a/on/go/guard/compare/2", severity: .warning,
            screen(#"{"target": "a", "guard": {"compare": ["/quote/text", "==", "quote/author"]}}"#)),
        .init(.duplicateFlow, "/id", screen(#"{"target": "a"}"#), screen(#"{"target": "a"}"#)),
        .init(
            .unknownState, "/initial", guess: "start",
            #"{"id": "f", "version": 1, "initial": "strat", "states": {"start": {"on": {"go": {"target": "start"}}}}}"#),
        .init(
            .unknownState, "/states/page/on/go/target", guess: "page",
            #"{"id": "f", "version": 1, "initial": "page", "states": {"page": {"on": {"go": {"target": "paeg"}}}}}"#),
        .init(.unknownState, "/states/a/back/target", flow(#""a": {"back": {"target": "nowhere"}}"#)),
        .init(
            .unknownService, "/states/a/data/0", guess: "profile", screen(#"{"target": "a"}"#, #""data": ["profil"]"#)),
        .init(.unknownService, "/states/a/on/go/actions/0/clear", guess: "quote", action(#"{"clear": "quotes"}"#)),
        .init(
            .unknownService, "/states/a/on/go/actions/0/value/$from", guess: "profile",
            action(#"{"op": "add", "path": "/quote/text", "value": {"$from": "/profiel/name"}}"#)),
        .init(.badValue, "/states/a/on/go/actions/0/call", action(#"{"call": "cart"}"#)),
        .init(.badValue, "/states/a/on/go/actions/0/call", action(#"{"call": "cart/add/one"}"#)),
        .init(.badValue, "/states/a/on/go/actions/0/call", action(#"{"call": "cart/sync"}"#)),
        .init(.wrongType, "/states/a/on/go/actions/0/call", action(#"{"call": ["cart", "add"]}"#)),
        .init(
            .badValue, "/migrations/0/patch/0",
            flow(
                #""a": {"on": {"go": {"target": "a"}}}"#,
                #""in_flight": "migrate", "migrations": [{"from": 1, "patch": [{"call": "cart/empty"}]}]"#, version: 2)),
        .init(
            .unknownKey, "/states/a/on/go/actions/0/wiht", guess: "with",
            action(#"{"call": "cart/add", "wiht": {"id": "low", "count": 1}}"#)),
        .init(.missingKey, "/states/a/on/go/actions/0", guess: "call", action(#"{"cal": "cart/empty"}"#)),
        .init(.missingKey, "/states/a/on/go/actions/0", action(#"{"call": "cart/add"}"#)),
        .init(
            .unknownService, "/states/a/on/go/actions/0/call", guess: "cart/empty", action(#"{"call": "crat/empty"}"#)),
        .init(
            .unknownCommand, "/states/a/on/go/actions/0/call", guess: "cart/empty", action(#"{"call": "cart/empt"}"#)),
        .init(.unknownCommand, "/states/a/on/go/actions/0/call", action(#"{"call": "quote/empty"}"#)),
        .init(.inputMismatch, "/states/a/on/go/actions/0/with", action(#"{"call": "cart/empty", "with": {}}"#)),
        .init(
            .inputMismatch, "/states/a/on/go/actions/0/with", action(#"{"call": "cart/add", "with": {"id": "low"}}"#)),
        .init(
            .inputMismatch, "/states/a/on/go/actions/0/with",
            action(#"{"call": "cart/add", "with": {"id": {"$from": "/now"}}}"#)),
        .init(
            .inputMismatch, "/states/a/on/go/actions/0/with/count",
            action(#"{"call": "cart/add", "with": {"id": "low", "count": {"$from": "/quote/text"}}}"#)),
        .init(
            .inputMismatch, "/states/a/on/go/actions/0/with/cuont", guess: "count",
            action(#"{"call": "cart/add", "with": {"id": {"$from": "/now"}, "cuont": 1}}"#)),
        .init(
            .inputMismatch, "/states/a/on/go/actions/0/with",
            action(#"{"call": "cart/add", "with": {"$from": "/quote/text"}}"#)),
        .init(
            .inputMismatch, "/states/a/on/go/actions/0/with",
            screen(
                #"{"actions": [{"call": "cart/add", "with": {"$from": "/event"}}]}"#,
                #""accepts": {"go": {"type": "object", "additionalProperties": false, "properties": {"id": {}}}}"#)),
        .init(
            .unknownService, "/states/a/on/go/actions/0/with/id/$from", guess: "quote",
            action(#"{"call": "cart/add", "with": {"id": {"$from": "/qoute/text"}, "count": 1}}"#)),
        .init(
            .valueNever, "/states/a/on/go/actions/0/value/$from",
            action(
                #"{"op": "add", "path": "/memo/n", "value": {"$from": "/result"}}, {"call": "cart/reset"}"#)),
        .init(
            .valueNever, "/states/a/on/go/actions/1/value/$from",
            action(
                #"{"call": "cart/empty"}, {"op": "add", "path": "/memo/n", "value": {"$from": "/result"}}"#)),
        .init(
            .valueNever, "/states/a/on/go/actions/1/value/$from", guess: "/result/total",
            action(
                #"{"call": "cart/add", "with": {"id": "low", "count": 1}}, {"op": "add", "path": "/memo/n", "value": {"$from": "/result/totl"}}"#
            )),
        .init(
            .valueNever, "/states/a/on/go/params/n/$from",
            screen(
                #"{"target": "a", "actions": [{"call": "cart/reset"}], "params": {"n": {"$from": "/result"}}}"#)),
        .init(
            .valueNever, "/states/a/exit/0/value/$from",
            screen(
                #"{"target": "a", "actions": [{"call": "cart/reset"}]}"#,
                #""exit": [{"op": "add", "path": "/memo/n", "value": {"$from": "/result"}}]"#)),
        .init(
            .forbiddenValue, "/states/a/on/go/actions/1/value",
            action(
                #"{"call": "cart/add", "with": {"id": "low", "count": 1}}, {"op": "add", "path": "/quote/text", "value": {"$from": "/result/total"}}"#
            )),
        .init(
            .badPointer, "/states/a/on/go/actions/0/path", action(#"{"op": "add", "path": "/result/x", "value": 1}"#)),
        .init(
            .unknownGuard, "/states/a/on/go/guard", guess: "named",
            flow(
                #""a": {"on": {"go": {"target": "a", "guard": "namd"}, "b": {"target": "a", "guard": "named"}}}"#,
                #""guards": {"named": {"service": "quote", "schema": {}}}"#)),
        .init(.unknownFlow, "/states/a/flow", guess: "child", parent(#""flow": "chidl", "on": {"done": {}}"#), child),
        .init(
            .unknownVersion, "/states/a/version",
            parent(#""flow": "child", "version": 2, "input": {"x": 1}, "on": {"done": {}}"#), child),
        .init(
            .unknownEvent, "/states/a/accepts/og", guess: "go", screen(#"{"target": "a"}"#, #""accepts": {"og": {}}"#)),
        .init(
            .unknownEvent, "/states/a/on/doen",
            parent(#""flow": "child", "input": {"x": 1}, "on": {"done": {}, "doen": {}}"#), child),
        .init(
            .unknownOutcome, "/states/a/on/done.yse", guess: "done.yes",
            parent(#""flow": "child", "input": {"x": 1}, "on": {"done.yse": {}, "done": {}}"#), child),
        .init(
            .unreachableState, "/states/b",
            flow(#""a": {"on": {"go": {"target": "a"}}}, "b": {"on": {"go": {"target": "a"}}}"#)),
        .init(
            .unreachableTransition, "/states/a/on/go/1", severity: .warning,
            screen(#"[{"target": "a"}, {"target": "a"}]"#)),
        .init(.deadEnd, "/states/a", flow(#""a": {"on": {"go": {"target": "b"}}}, "b": {"back": false}"#)),
        .init(
            .deadEnd, "/states/a",
            flow(
                #""a": {"type": "choice", "branches": [{"target": "b"}]}, "b": {"type": "choice", "branches": [{"target": "c"}]}, "c": {"back": false}"#
            )),
        .init(.screenWithoutWayOn, "/states/b", flow(#""a": {"on": {"go": {"target": "b"}}}, "b": {"back": false}"#)),
        .init(.screenWithoutWayOn, "/states/a", flow(#""a": {}"#)),
        .init(
            .screenWithoutWayOn, "/states/b", severity: .warning,
            flow(#""a": {"on": {"go": {"target": "b"}}}, "b": {}"#)),
        .init(
            .choiceWithoutDefault, "/states/b/branches",
            flow(
                #""a": {"on": {"go": {"target": "b"}}}, "b": {"type": "choice", "branches": [{"guard": {"service": "quote", "schema": {}}, "target": "a"}]}"#
            )),
        .init(
            .choiceWithoutDefault, "/states/b/branches",
            flow(
                #""a": {"on": {"go": {"target": "b"}}}, "b": {"type": "choice", "branches": []}"#)),
        .init(
            .endlessChoice, "/states/b",
            flow(
                #""a": {"on": {"go": {"target": "b"}}}, "b": {"type": "choice", "branches": [{"target": "c"}]}, "c": {"type": "choice", "branches": [{"target": "b"}]}"#
            )),
        .init(
            .endlessChoice, "/states/c000",
            flow(
                (0..<100).map { number in
                    let next = number == 99 ? "a" : "c\(String(1001 + number).dropFirst())"
                    return
                        #""c\#(String(1000 + number).dropFirst())": {"type": "choice", "branches": [{"target": "\#(next)"}]}"#
                }.joined(separator: ", ") + #", "a": {"on": {"go": {"target": "c000"}}}"#)),
        // 59 choices before the child begins, 40 in it.
        .init(
            .endlessChoice, "/states/c00",
            flow(
                row(59, to: "k") + #""k": {"type": "flow", "flow": "g", "on": {"done": {}}}, "a": "#
                    + #"{"on": {"go": {"target": "c00"}}}"#),
            #"{"id": "g", "version": 1, "initial": "c00", "states": {\#(row(40, to: "a")) "a": {"on": {"go": {"target": "z"}}}, "z": {"type": "final"}}}"#
        ),
        // An event of the child ends it after 50 choices, and 50 follow in its parent.
        .init(
            .endlessChoice, "/states/k/on",
            flow(
                row(50, to: "a") + #""k": {"type": "flow", "flow": "g", "on": {"done": {"target": "c00"}}}, "a": "#
                    + #"{"on": {"go": {"target": "k"}}}"#),
            #"{"id": "g", "version": 1, "initial": "a", "states": {\#(row(50, to: "z")) "a": {"on": {"go": {"target": "c00"}}}, "z": {"type": "final"}}}"#
        ),
        .init(
            .endlessChildren, "/states/k/on",
            flow(
                #""k": {"type": "flow", "flow": "g", "on": {"done": {"target": "k"}}}, "a": {"on": {"go": {"target": "k"}}}"#
            ),
            #"{"id": "g", "version": 1, "initial": "c", "states": {"c": {"type": "choice", "branches": [{"guard": {"is": "/quote/text"}, "target": "a"}, {"target": "z"}]}, "a": {"on": {"go": {"target": "z"}}}, "z": {"type": "final"}}}"#
        ),
        .init(
            .endlessAlways, "/states/s000",
            flow(
                (0..<101).map { number in
                    let next = number == 100 ? "a" : "s\(String(1001 + number).dropFirst())"
                    return
                        #""s\#(String(1000 + number).dropFirst())": {"always": [{"guard": {"is": "/profile/attributes/x"}, "target": "\#(next)"}], "on": {"go": {"target": "a"}}}"#
                }.joined(separator: ", ") + #", "a": {"on": {"go": {"target": "s000"}}}"#)),
        .init(
            .endlessAlways, "/states/a/always/0",
            flow(
                #""a": {"always": [{"guard": "g", "target": "b"}]}, "b": {"always": {"guard": {"all": ["g", "h"]}, "target": "c"}}, "c": {"type": "choice", "branches": [{"target": "a"}]}"#,
                #""guards": {"g": {"service": "quote", "schema": {}}, "h": {"service": "log", "schema": {}}}"#)),
        .init(
            .endlessAlways, "/states/a/always",
            flow(
                #""a": {"on": {"go": {"target": "b"}}, "always": {"guard": "g", "target": "b"}}, "b": {}"#,
                #""always": [{"guard": "g", "target": "a"}], "guards": {"g": {"service": "quote", "schema": {}}}"#)),
        .init(
            .endlessAlways, "/states/a/always", severity: .warning,
            flow(
                #""a": {"always": {"guard": "g", "target": "b", "actions": [{"clear": "quote"}]}}, "b": {"always": {"guard": "g", "target": "a"}}"#,
                #""guards": {"g": {"service": "quote", "schema": {}}}"#)),
        .init(
            .misplacedVerb, "/states/b/on/go/nav", severity: .warning,
            flow(
                #""a": {"on": {"go": {"target": "b", "nav": "replace"}}}, "b": {"on": {"go": {"target": "a", "nav": "pop_to"}}}"#
            )),
        .init(
            .missingKey, "/states/a/always/0",
            flow(
                #""a": {"on": {"go": {"target": "b"}}, "always": [{"target": "b"}]}, "b": {"on": {"go": {"target": "a"}}}"#
            )
        ),
        .init(.missingKey, "/states/a/otherwise", screen(#"{"target": "a"}"#, #""otherwise": {"target": "a"}"#)),
        .init(
            .guardWithoutEvent, "/always/guard/event",
            flow(#""a": {}"#, #""always": {"guard": {"event": true, "schema": {}}, "target": "a"}"#)),
        .init(.wrongType, "/states/a/on/go/link", screen(#"{"target": "a", "link": "yes"}"#)),
        .init(.wrongType, "/states/a/on/go/params", screen(#"{"target": "a", "params": 7}"#)),
        .init(
            .notPortable, "/portable",
            flow(#""a": {"data": ["memo"], "on": {"go": {"target": "a"}}}"#, #""portable": true"#)),
        .init(
            .notPortable, "/states/k/flow",
            flow(
                #""a": {"on": {"go": {"target": "k"}}}, "k": {"type": "flow", "flow": "g", "on": {"done": {}}}"#,
                #""portable": true, "owns": ["memo"]"#),
            #"{"id": "g", "version": 1, "initial": "a", "states": {"a": {"data": ["memo", "user"], "on": {"go": {"target": "z", "actions": [{"op": "add", "path": "/cart/total", "value": 1}]}}}, "z": {"type": "final"}}}"#
        ),
        .init(
            .blockedResume, "/states/a/on/go", severity: .warning,
            flow(
                #""a": {"answers": ["/profile/name"], "on": {"go": {"target": "c", "nav": "resume"}, "next": {"target": "b"}}}, "b": {"on": {"agree": {"target": "c"}}}, "c": {"on": {"go": {"target": "a"}}}"#
            )),
        .init(
            .blockedResume, "/states/a/on/go", severity: .warning,
            flow(
                #""a": {"answers": ["/profile/name"], "on": {"go": {"target": "c", "nav": "resume"}, "next": {"target": "b"}}}, "b": {"type": "task", "task": "work", "on": {"done": {"target": "c"}}}, "c": {"on": {"go": {"target": "a"}}}"#
            )),
        .init(
            .dayAndTime, "/states/a/on/go/guard/compare/2", severity: .warning,
            screen(##"{"target": "a", "guard": {"compare": [{"$day": "/now"}, "<", "/now"]}}"##)),
        .init(
            .dayAndTime, "/states/a/on/go/guard/compare/0", severity: .warning,
            screen(##"{"target": "a", "guard": {"compare": ["/now", "<", {"value": "2026-01-31"}]}}"##)),
        .init(
            .badValue, "/states/a/on/go/actions/0/value/zone",
            action(##"{"op": "add", "path": "/profile/name", "value": {"$day": "/now", "zone": "Europe/Berlyn"}}"##)),
        .init(
            .badValue, "/states/a/on/go/actions/0/value/$days",
            action(##"{"op": "add", "path": "/profile/name", "value": {"$days": ["/now"]}}"##)),
        .init(
            .badValue, "/states/a/on/go/actions/0/value/$day",
            action(##"{"op": "add", "path": "/profile/name", "value": {"$day": "today"}}"##)),
        .init(.misplacedVerb, "/states/a/on/go/params", screen(#"{"actions": [{"clear": "quote"}], "params": {}}"#)),
        .init(
            .misplacedVerb, "/states/a/on/go/target",
            flow(#""a": {"on": {"go": {"target": "b", "nav": "resume"}}}, "b": {"type": "final"}"#)),
        .init(
            .valueNever, "/states/a/answers/0", guess: "/profile/name",
            screen(#"{"target": "a"}"#, #""answers": ["/profile/nmae"]"#)),
        .init(.badPointer, "/states/a/answers/0", screen(#"{"target": "a"}"#, #""answers": ["/input/x"]"#)),
        .init(
            .badValue, "/invalidates/~1profile~1name",
            flow(
                #""a": {"on": {"go": {"target": "a"}}}"#,
                #""invalidates": {"/profile/name": ["/profile/email"], "/profile/email": ["/profile/name"]}"#)),
        .init(
            .readOnlyService, "/invalidates/~1profile~1name/0",
            flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""invalidates": {"/profile/name": ["/user/id"]}"#)),
        .init(.endlessChildren, "/states/a/flow", parent(#""flow": "f", "on": {"done": {}}"#)),
        .init(
            .endlessChildren, "/states/a/flow", parent(#""flow": "g", "on": {"done": {}}"#),
            #"{"id": "g", "version": 1, "initial": "a", "states": {"a": {"type": "choice", "branches": [{"target": "b"}]}, "b": {"type": "flow", "flow": "f", "on": {"done": {}}}}}"#
        ),
        .init(.endlessPush, "/states/a/on/go", severity: .warning, screen(#"{"target": "a"}"#)),
        .init(.misplacedVerb, "/states/a/on/go/nav", screen(#"{"nav": "push"}"#)),
        .init(
            .misplacedVerb, "/states/a/on/go/target",
            flow(
                #""a": {"on": {"go": {"target": "b", "nav": "pop_to"}}}, "b": {"type": "final"}"#)),
        .init(
            .misplacedVerb, "/states/a/on/go/history",
            screen(#"{"actions": [{"clear": "quote"}], "history": "discard"}"#)),
        .init(
            .unhandledOutcome, "/states/a/on", severity: .warning, parent(#""flow": "child", "input": {"x": 1}"#), child
        ),
        .init(
            .readOnlyService, "/states/a/on/go/actions/0/path",
            action(#"{"op": "add", "path": "/user/id", "value": "x"}"#)),
        .init(
            .forbiddenPath, "/states/a/on/go/actions/0/path", guess: "/profile/name",
            action(#"{"op": "add", "path": "/profile/nmae", "value": "x"}"#)),
        .init(
            .forbiddenPath, "/states/a/on/go/actions/0/path",
            action(#"{"op": "add", "path": "/profile/name/first", "value": "x"}"#)),
        .init(
            .forbiddenValue, "/states/a/on/go/actions/0/value",
            action(#"{"op": "add", "path": "/profile/name", "value": 7}"#)),
        .init(
            .valueNever, "/states/a/on/go/actions/0/value/$from", guess: "/quote/text",
            action(#"{"op": "add", "path": "/quote/author", "value": {"$from": "/quote/txet"}}"#)),
        .init(
            .valueNever, "/states/a/on/go/actions/0/value/$from",
            action(#"{"op": "add", "path": "/quote/author", "value": {"$from": "/output/x"}}"#)),
        .init(
            .valueNever, "/states/a/on/go/actions/0/value/$from",
            action(#"{"op": "add", "path": "/quote/author", "value": {"$from": "/now/x"}}"#)),
        .init(
            .valueNever, "/states/a/on/go/actions/0/value/$from", guess: "/event/name",
            screen(
                #"{"actions": [{"op": "add", "path": "/quote/author", "value": {"$from": "/event/nmae"}}]}"#,
                #""accepts": {"go": {"properties": {"name": {}}, "additionalProperties": false, "type": "object"}}"#)),
        .init(
            .undeclaredMember, "/states/a/on/go/actions/0/value/$from", guess: "/event/sku",
            screen(
                #"{"actions": [{"op": "add", "path": "/quote/author", "value": {"$from": "/event/SKU"}}]}"#,
                #""accepts": {"go": {"properties": {"sku": {}}, "type": "object"}}"#)),
        .init(
            .undeclaredMember, "/states/a/on/go/actions/0/value/$from", severity: .warning,
            screen(
                #"{"actions": [{"op": "add", "path": "/quote/author", "value": {"$from": "/event/colour"}}]}"#,
                #""accepts": {"go": {"properties": {"sku": {}}, "type": "object"}}"#)),
        .init(
            .textNotExpression, "/states/a/on/go/actions/0/value", severity: .warning,
            action(#"{"op": "add", "path": "/quote/author", "value": "${event.sku}"}"#)),
        .init(
            .forbiddenValue, "/states/a/on/go/actions/0/value",
            screen(
                #"{"actions": [{"op": "add", "path": "/quote/author", "value": {"$from": "/event/n"}}]}"#,
                #""accepts": {"go": {"properties": {"n": {"type": "number"}}, "type": "object"}}"#)),
        .init(
            .forbiddenValue, "/states/a/on/go/actions/0/value",
            action(#"{"op": "add", "path": "/quote/author", "value": {"$add": [1, 2]}}"#)),
        .init(
            .forbiddenPath, "/states/a/on/go/actions/0/value/autor", guess: "/quote/author",
            action(#"{"merge": "/quote", "value": {"autor": "x"}}"#)),
        .init(
            .badValue, "/states/a/on/go/actions/0/value/$add/0",
            action(#"{"op": "add", "path": "/limits/x", "value": {"$add": ["limits/low", 2]}}"#)),
        .init(
            .unknownKey, "/states/a/on/go/actions/0/value/$ad", guess: "$add",
            action(#"{"op": "add", "path": "/limits/x", "value": {"$ad": [1, 2]}}"#)),
        .init(
            .badDuration, "/states/a/on/go/actions/0/value/$time/plus",
            action(#"{"op": "add", "path": "/limits/x", "value": {"$time": {"from": "/now", "plus": "18 years"}}}"#)),
        .init(
            .badPointer, "/states/a/on/go/actions/0/path/$pointer/0",
            action(#"{"op": "add", "path": {"$pointer": ["/limits/x", {"$from": "/event/i"}]}, "value": 1}"#)),
        .init(
            .guardNever, "/states/a/on/go/guard/schema", severity: .warning,
            screen(#"{"target": "a", "guard": {"service": "quote", "schema": {"type": "array"}}}"#)),
        .init(
            .guardNever, "/states/a/on/go/guard/compare", severity: .warning,
            screen(#"{"target": "a", "guard": {"compare": ["/quote/text", "==", {"value": 7}]}}"#)),
        .init(
            .guardNever, "/states/a/on/go/guard/is", severity: .warning,
            screen(#"{"target": "a", "guard": {"is": "/quote/text"}}"#)),
        .init(
            .valueNever, "/states/a/on/go/guard/schema/required/0", guess: "/quote/text", severity: .warning,
            screen(#"{"target": "a", "guard": {"service": "quote", "schema": {"required": ["txet"]}}}"#)),
        .init(
            .guardAlways, "/states/a/on/go/guard/schema", severity: .warning,
            screen(#"{"target": "a", "guard": {"service": "quote", "schema": {"required": ["text"]}}}"#)),
        .init(
            .undecidableCompare, "/states/a/on/go/guard/compare/0", severity: .warning,
            screen(#"{"target": "a", "guard": {"compare": ["/limits/low", "<", {"value": 7}]}}"#)),
        .init(.inputMismatch, "/states/a", parent(#""flow": "child", "on": {"done": {}}"#), child),
        .init(
            .inputMismatch, "/states/a/input",
            parent(#""flow": "child", "input": {"y": {"$from": "/now"}}, "on": {"done": {}}"#), child),
        .init(
            .guardCycle, "/guards/g",
            flow(
                #""a": {"on": {"go": {"target": "a", "guard": "g"}}}"#,
                #""guards": {"g": {"not": "h"}, "h": {"all": ["g"]}}"#)),
        .init(
            .guardWithoutEvent, "/states/a/requires/0/event",
            screen(#"{"target": "a"}"#, #""requires": [{"event": true, "schema": {}}]"#)),
        .init(
            .guardWithoutEvent, "/states/a/requires/0",
            flow(
                #""a": {"requires": ["g"], "on": {"go": {"target": "a"}}}"#,
                #""guards": {"g": {"event": true, "schema": {}}}"#)),
        .init(
            .unusedGuard, "/guards/g", severity: .warning,
            flow(
                #""a": {"on": {"go": {"target": "a"}}}"#, #""guards": {"g": {"service": "quote", "schema": {}}}"#)),
        .init(
            .sharedData, "", severity: .warning, action(#"{"op": "add", "path": "/memo/x", "value": 1}"#)),
        // A word of another flow is no use of the service.
        .init(
            .sharedData, "", severity: .warning, action(#"{"op": "add", "path": "/memo/x", "value": 1}"#),
            #"{"id": "g", "version": 1, "initial": "a", "states": {"a": {"title": "memo", "on": {"memo": {"target": "z"}}}, "z": {"type": "final"}}}"#
        ),
        // A session outlives its token for a task, else for what the flow says alone.
        .init(.unreachableTime, "/states/t/timeout", severity: .warning, task(#""timeout": "31d""#)),
        .init(
            .unreachableTime, "/states/a/timeout", severity: .warning,
            screen(#"{"target": "a"}"#, #""timeout": {"after": "13h", "target": "a"}"#)),
        .init(
            .unreachableTime, "/states/a/timeout", severity: .warning,
            flow(#""a": {"timeout": {"after": "61d", "target": "a"}}"#, #""lives": "60d""#)),
        .init(
            .unreachableTime, "/timeout/total", severity: .warning,
            flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""timeout": {"idle": "1h", "total": "13h"}"#)),
        .init(
            .unreachableTime, "/timeout/idle", severity: .warning,
            flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""timeout": {"idle": "13h"}"#)),
        // The second time, and the last one.
        .init(
            .unreachableTime, "/states/a/timers/0/every", severity: .warning,
            timer(#""after": "7h", "every": "6h""#)),
        .init(
            .unreachableTime, "/states/a/timers/0/times", severity: .warning,
            timer(#""after": "1h", "every": "6h", "times": 3"#)),
        .init(
            .unreachableTime, "/states/a/timers/0/every", severity: .warning,
            timer(#""at": "/quote/text", "every": "13h""#)),
        // The session may expire while the task is done, and then it lives as long as the flow.
        .init(
            .unreachableTime, "/states/t/timeout", severity: .warning,
            flow(
                #""a": {"on": {"go": {"target": "t"}}}, "t": {"type": "task", "task": "work", "timeout": "2h", "on": {"done": {"target": "a"}}}"#,
                #""lives": "1h""#)),
        .init(
            .unknownService, "/owns/0", guess: "quote",
            flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""owns": ["qoute"]"#)),
        .init(
            .readOnlyService, "/owns/0", flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""owns": ["user"]"#)),
        .init(
            .badValue, "/owns/1", flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""owns": ["memo", "memo"]"#)),
        .init(
            .badValue, "/concurrency", guess: "first_write",
            flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""concurrency": "frist_write""#)),
        .init(
            .badValue, "/bound_to",
            flow(#""a": {"on": {"go": {"target": "a"}}}"#, #""bound_to": "nobody""#)),
        .init(.uselessTransition, "/states/a/on/go", severity: .warning, screen("{}")),
        .init(
            .migrationGap, "/migrations/0/states",
            flow(#""a": {"on": {"go": {"target": "b"}}}, "b": {"on": {"go": {"target": "a"}}}"#),
            flow(
                #""a": {"on": {"go": {"target": "c"}}}, "c": {"on": {"go": {"target": "a"}}}"#,
                #""in_flight": "migrate", "migrations": [{"from": 1}]"#, version: 2)),
        .init(
            .migrationGap, "/migrations/0/outcomes", outcome("ok", ""),
            outcome("yes", #""in_flight": "migrate", "migrations": [{"from": 1}]"#, version: 2)),
        .init(
            .unknownOutcome, "/migrations/0/outcomes/oki", guess: "ok", outcome("ok", ""),
            outcome(
                "yes", #""in_flight": "migrate", "migrations": [{"from": 1, "outcomes": {"ok": "yes", "oki": "yes"}}]"#,
                version: 2)),
    ]

    /// A flow whose task declares one outcome.
    private static func outcome(_ name: String, _ more: String, version: Int = 1) -> String {
        flow(
            #""a": {"on": {"go": {"target": "t"}}}, "t": {"type": "task", "task": "work", "outcomes": {"\#(name)": {}}, "on": {"done": {"target": "a"}}}"#,
            more, version: version)
    }
}
