import JSONDocument
import Support
import Testing

/// A mistake that an author of flows may well make: a change of a good flow, and what `concierge check` must say of it.
struct AuthorMistake: Sendable, CustomTestStringConvertible {
    /// What is replaced in the flow, and by what.
    let written: String
    let instead: String
    /// The pointer and what the message must contain.
    let pointer: String
    let hints: [String]
    var testDescription: String { "\(instead) for \(written)" }

    init(_ written: String, _ instead: String, _ pointer: String, _ hints: String...) {
        self.written = written
        self.instead = instead
        self.pointer = pointer
        self.hints = hints
    }

    static let service = """
        {"name": "order", "default": {"sku": "", "total": 0, "gift": false, "lines": [], "note": null},
         "schema": {"type": "object", "required": ["sku", "total", "gift", "lines", "note"], "additionalProperties": false,
          "properties": {"sku": {"type": "string"}, "total": {"type": "number"}, "gift": {"type": "boolean"},
           "lines": {"type": "array", "items": {"type": "object"}}, "note": {"type": ["string", "null"], "maxLength": 99}}}}
        """

    static let child = """
        {"id": "greeting", "version": 1, "initial": "hello",
         "input": {"type": "object", "required": ["name"], "additionalProperties": false, "properties": {"name": {"type": "string"}}},
         "states": {"hello": {"on": {"ok": {"target": "greeted"}}}, "greeted": {"type": "final"}}}
        """

    static let flow = """
        {
          "id": "shop", "version": 1, "initial": "choose", "owns": ["order"],
          "timeout": {"idle": "30m"},
          "guards": {
            "chosen": {"service": "order", "schema": {"properties": {"sku": {"minLength": 1}}}},
            "gift": {"is": "/order/gift"}
          },
          "on": {"quit": {"target": "left"}},
          "states": {
            "choose": {
              "title": "Choose", "data": ["order"],
              "accepts": {"choose": {"type": "object", "required": ["sku", "price"], "properties": {
                "sku": {"type": "string", "minLength": 1}, "price": {"type": "number"}, "email": {"type": "string", "format": "email"}}}},
              "on": {
                "choose": {"target": "greet", "actions": [
                  {"op": "replace", "path": "/order/sku", "value": {"$from": "/event/sku"}},
                  {"op": "replace", "path": "/order/total", "value": {"$add": [{"$from": "/order/total"}, {"$from": "/event/price"}]}}
                ]},
                "wrap": {"guard": {"not": "gift"}, "actions": [{"op": "replace", "path": "/order/gift", "value": true}]}
              }
            },
            "greet": {"type": "flow", "flow": "greeting", "input": {"name": {"$from": "/order/sku"}}, "on": {"done.greeted": {"target": "pay"}}},
            "pay": {
              "requires": ["chosen"],
              "on": {
                "pay": {"guard": {"compare": ["/order/total", "<=", {"value": 1000}]}, "target": "paid", "history": "invalidate"},
                "later": {"target": "choose", "nav": "pop_to"}
              },
              "timeout": {"after": "5m", "target": "choose", "nav": "pop_to"}
            },
            "paid": {"type": "final", "output": {"total": {"$from": "/order/total"}}},
            "left": {"type": "final"}
          }
        }
        """

    private static let sku = #"{"op": "replace", "path": "/order/sku", "value": {"$from": "/event/sku"}}"#
    private static let price = #"{"$from": "/event/price"}"#
    private static let compare = #"{"compare": ["/order/total", "<=", {"value": 1000}]}"#
    private static let chosen = #"{"properties": {"sku": {"minLength": 1}}}"#
    private static let action = "/states/choose/on/choose/actions/0"
    private static let pay = "/states/pay/on/pay"

    static let all: [AuthorMistake] = [
        .init(#"{"target": "left"}}"#, #""left"}"#, "/on/quit", #"write {"target": "left"}"#),
        .init(#""initial": "choose""#, #""initial": "chose""#, "/initial", "did you mean choose?"),
        .init(
            #""target": "greet", "#, #""target": "gret", "#, "/states/choose/on/choose/target",
            "did you mean greet?"),
        .init(#""guard": {"not""#, #""if": {"not""#, "/states/choose/on/wrap/if", "did you mean guard?"),
        .init(#""guard": {"not""#, #""when": {"not""#, "/states/choose/on/wrap/when", "did you mean guard?"),
        .init(#""guard": {"not""#, #""cond": {"not""#, "/states/choose/on/wrap/cond", "did you mean guard?"),
        .init(compare, #""order.total <= 1000""#, "\(pay)/guard", "guards are not expressions", #"{"compare": ["#),
        .init(
            #"{"not": "gift"}"#, #""!gift""#, "/states/choose/on/wrap/guard", "guards are not expressions",
            #"{"not": …}"#
        ),
        .init(compare, #"{"compare": "total <= 1000"}"#, "\(pay)/guard/compare", "an array of three"),
        .init(#""<=", {"value": 1000}"#, #""=<", {"value": 1000}"#, "\(pay)/guard/compare/1", "<="),
        .init(#"{"value": 1000}"#, #"{"value": "1000"}"#, "\(pay)/guard/compare", "cannot be compared"),
        .init(#"["/order/total", "<="#, #"["/order/lines", "<="#, "\(pay)/guard/compare", "cannot be compared"),
        .init(
            #"["/order/total", "<="#, #"["/order/totl", "<="#, "\(pay)/guard/compare/0", "did you mean /order/total?"),
        .init(#"["/order/total", "<="#, #"["order.total", "<="#, "\(pay)/guard/compare/0", #"is "/order/total""#),
        .init(#"{"is": "/order/gift"}"#, #"{"is": "/order/sku"}"#, "/guards/gift/is", #"{"has": "/order/sku"}"#),
        .init(#"{"is": "/order/gift"}"#, #"{"is": "/order/gifts"}"#, "/guards/gift/is", "did you mean /order/gift?"),
        .init(
            chosen, #"{"properties": {"SKU": {"minLength": 1}}}"#, "/guards/chosen/schema/properties/SKU", "/order/sku"),
        .init(chosen, #"{"required": ["skus"]}"#, "/guards/chosen/schema/required/0", "did you mean /order/sku?"),
        .init(
            chosen, #"{"properties": {"sku": {"type": "number"}}, "required": ["sku"]}"#, "/guards/chosen/schema",
            "never holds"),
        .init(chosen, #"{"required": ["sku"]}"#, "/guards/chosen/schema", "always holds"),
        .init(
            chosen, #"{"properties": {"sku": {"minlength": 1}}}"#, "/guards/chosen/schema/properties/sku/minlength",
            "minLength"),
        .init(
            #""requires": ["chosen"]"#, #""requires": ["choosen"]"#, "/states/pay/requires/0", "did you mean chosen?"),
        .init(#""requires": ["chosen"]"#, #""require": ["chosen"]"#, "/states/pay/require", "did you mean requires?"),
        .init(
            sku, sku.replacing("/event/sku", with: "/event/SKU"), "\(action)/value/$from", "did you mean /event/sku?"),
        .init(
            sku, sku.replacing("/event/sku", with: "/event/product"), "\(action)/value/$from",
            "does not declare /product"),
        .init(
            sku, sku.replacing(#"{"$from": "/event/sku"}"#, with: #""${event.sku}""#), "\(action)/value",
            #"{"$from": "/event/sku"}"#),
        .init(
            sku, sku.replacing(#"{"$from": "/event/sku"}"#, with: #""/event/sku""#), "\(action)/value",
            #"{"$from": "/event/sku"}"#),
        .init(
            sku, sku.replacing(#"{"$from": "/event/sku"}"#, with: #""{{event.sku}}""#), "\(action)/value",
            #"{"$from": "/event/sku"}"#),
        .init(sku, sku.replacing("$from", with: "$form"), "\(action)/value/$form", "did you mean $from?"),
        .init(
            sku, sku.replacing("/event/sku", with: "/event/price"), "\(action)/value", "is a number; expected a string"
        ),
        .init(sku, sku.replacing("/order/sku", with: "/order/skew"), "\(action)/path", "does not allow /skew"),
        .init(sku, sku.replacing("/order/sku", with: "/orders/sku"), "\(action)/path", "did you mean order?"),
        .init(sku, sku.replacing("/order/sku", with: "order.sku"), "\(action)/path", "/profile/name"),
        .init(sku, #"{"increment": "/order/total"}"#, action, "$add", "/order/total"),
        .init(sku, #"{"op": "increment", "path": "/order/total"}"#, "\(action)/op", "$add"),
        .init(sku, #"{"set": "/order/sku", "value": 7}"#, "\(action)/value", "must be a string"),
        .init(sku, #"{"delete": "/order/note"}"#, action, #"{"op": "remove", "path": "/order/note"}"#),
        .init(sku, #"{"merge": "/order", "value": {"SKU": "x"}}"#, "\(action)/value/SKU", "did you mean /order/sku?"),
        .init(sku, #"{"merge": "/order", "value": {"total": "1"}}"#, "\(action)/value/total", "must be a number"),
        .init(sku, #"{"remove": "/order/note"}"#, "\(action)/remove", "there is no service"),
        .init(price, #"{"$from": "/event/sku"}"#, "/states/choose/on/choose/actions/1/value/$add/1", "takes a number"),
        .init(
            #""nav": "pop_to"}"# + "\n", #""nav": "popTo"}"# + "\n", "/states/pay/on/later/nav", "did you mean pop_to?"),
        .init(#""after": "5m""#, #""after": 300"#, "/states/pay/timeout/after", #""90s""#),
        .init(#""idle": "30m""#, #""idle": "30 minutes""#, "/timeout/idle", #""30m""#),
        .init(#""data": ["order"]"#, #""data": ["orders"]"#, "/states/choose/data/0", "did you mean order?"),
        .init(
            #""format": "email""#, #""format": "phone""#, "/states/choose/accepts/choose/properties/email/format",
            "is not checked"),
        .init(
            #""accepts": {"choose""#, #""accepts": {"chose""#, "/states/choose/accepts/chose", "did you mean choose?"),
        .init(
            #"{"name": {"$from": "/order/sku"}}"#, #"{"nmae": {"$from": "/order/sku"}}"#, "/states/greet/input/nmae",
            "did you mean name?"),
        .init(
            #"{"name": {"$from": "/order/sku"}}"#, #"{"name": {"$from": "/order/total"}}"#, "/states/greet/input/name",
            "expected a string"),
        .init("done.greeted", "done.greted", "/states/greet/on/done.greted", "did you mean done.greeted?"),
        .init(#""type": "flow""#, #""type": "subflow""#, "/states/greet/type", "expected one of screen, choice, flow"),
        .init(
            #""left": {"type": "final"}"#, #""left": {"type": "final"},"#, "",
            "remove the comma before the closing bracket"),
        .init(#""version": 1, "initial""#, #""version": 1 "initial""#, "", "a comma is missing"),
        .init(#""title": "Choose""#, "'title': 'Choose'", "", "double quotes"),
        .init(#""history": "invalidate""#, #""history": "invalid""#, "\(pay)/history", "did you mean invalidate?"),
        .init(#""version": 1"#, #""version": "1""#, "/version", "positive integer"),
    ]
}

@Suite("Mistakes of authors")
struct AuthorMistakeTests {
    private static func check(_ flow: String) async throws -> [String] {
        let files = [
            "config/concierge.json": "{}", "config/services/order.json": AuthorMistake.service,
            "config/flows/greeting.json": AuthorMistake.child, "config/flows/shop.json": flow,
        ]
        return try await withFolder(files) { folder, _ in
            await output(of: ["check"], files: folder).text.split(separator: "\n").map(String.init)
        }
    }

    @Test("the flow without mistakes has no problem")
    func good() async throws {
        let lines = try await Self.check(AuthorMistake.flow)
        #expect(lines.count == 1 && lines[0].hasSuffix("0 errors, 0 warnings"), "\(lines)")
    }

    @Test("there are more than fifty") func count() { #expect(AuthorMistake.all.count >= 50) }

    @Test(
        "each is reported with file, line, pointer and what to write instead, and nothing else is",
        arguments: AuthorMistake.all)
    func caught(mistake: AuthorMistake) async throws {
        let start = try #require(AuthorMistake.flow.firstRange(of: mistake.written)?.lowerBound)
        let before = AuthorMistake.flow[..<start]
        let flow = before + mistake.instead + AuthorMistake.flow[start...].dropFirst(mistake.written.count)
        let lines = try await Self.check(String(flow))
        let found = lines.filter { line in
            line.hasPrefix("config/flows/shop.json:")
                && line.contains(": \(mistake.pointer)\(mistake.pointer.isEmpty ? "" : " ")")
                && mistake.hints.allSatisfy { line.contains($0) }
        }
        #expect(found.count == 1, "\(lines)")
        // The line of the mistake, or one or two below where something is not JSON.
        let line = before.count { $0 == "\n" } + 1
        let reported = found.first?.split(separator: ":")[1]
        #expect(reported.flatMap { Int($0) }.map { (line...line + 2).contains($0) } == true, "\(line) \(lines)")
        // Nothing follows from it: the last line counts the problems.
        #expect(lines.count == 2, "\(lines)")
    }
}
