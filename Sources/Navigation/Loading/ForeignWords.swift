import JSONDocument

/// Words of other languages, and what says the same here: from statecharts, Amazon States Language, Spring Web Flow,
/// BPMN, form builders and templates.
///
/// A message about such a word ends with what to write instead. One table serves keys of flows, guards, actions,
/// functions and schemas, types of states, and parts of paths. A word that only has another name here is in
/// ``synonyms``, and becomes the guess.
enum ForeignWords {
    /// Where a word stands that means something else in other places.
    enum Place: String {
        case guardian = "a guard"
        case action = "an action"
        case function = "a function"
        case schema = "a schema"
        case type = "a type"
        case name = "a name"
        /// An array where an object is expected.
        case array = "an array"
        case ending = "a final state"
        case choice = "a choice"
    }

    /// What to write instead of a word: a clause. Case, hyphens and a prefix such as `camunda:` do not count.
    ///
    /// - Parameter place: where the word stands, such as "a guard".
    static func advice(on word: String, in place: String = "") -> String? {
        let word = folded(word)
        return advice["\(place) \(word)"] ?? advice[word]
    }

    static func advice(on word: String, in place: Place) -> String? { advice["\(place.rawValue) \(folded(word))"] }

    /// What to write instead of a part of a path that is not the index of an element: `-1`, `[0]`, `*`, `length`.
    ///
    /// - Parameters:
    ///   - list: the path of the list.
    ///   - rest: the parts behind it.
    static func element(_ token: String, of list: JSONPointer, behind rest: [String]) -> String {
        let name = token.filter { $0 != "[" && $0 != "]" }
        switch name.lowercased() {
        case "-1", "-", "last":
            let parts = (list.tokens + ["…"] + rest).map {
                $0 == "…" ? "{\"$subtract\": [{\"$count\": \"\(list)\"}, 1]}" : "\"\($0)\""
            }
            return "the last element is at {\"$pointer\": [\(parts.joined(separator: ", "))]}"
        case "*", "":
            let each = JSONPointer(["item"] + rest)
            return "all elements are {\"$map\": {\"of\": \"\(list)\", \"each\": \"\(each)\"}}"
        case "length", "size", "count": return "how many there are is {\"$count\": \"\(list)\"}"
        case "first": return "the first element is at \(JSONPointer(list.tokens + ["0"] + rest))"
        default:
            let index = Int(name).flatMap { $0 >= 0 ? String($0) : nil } ?? "0"
            return
                "an element of a list is named by its index from 0 on, as in \"\(JSONPointer(list.tokens + [index] + rest))\""
        }
    }

    /// What a key is called here, when it only has another name.
    static func synonym(of key: String) -> String? { synonyms[folded(key)] }

    private static func folded(_ word: String) -> String {
        let name = word.contains(":") ? String(word.split(separator: ":").last ?? "") : word
        return String(name.lowercased().filter { $0 != "-" && $0 != "_" })
    }

    private static let synonyms = [
        "if": "guard", "when": "guard", "cond": "guard", "condition": "guard", "conditionexpression": "guard",
        "to": "target", "goto": "target", "next": "target", "do": "actions", "action": "actions", "assign": "actions",
        "effects": "actions", "events": "on", "transitions": "on", "globaltransitions": "on", "label": "title",
        "heading": "title", "payload": "accepts", "validate": "rules", "validation": "rules", "onentry": "entry",
        "enter": "entry", "onstart": "entry", "onexit": "exit", "onend": "exit", "leave": "exit", "start": "initial",
        "startat": "initial", "initialstate": "initial", "result": "output", "returns": "output", "and": "all",
        "or": "any", "equals": "compare", "exists": "has", "message": "say", "error": "say", "services": "data",
        "steps": "states", "screens": "states", "pages": "states", "params": "input", "name": "id",
    ]

    private static let advice: [String: String] = {
        var advice: [String: String] = [:]
        for (words, text) in keys { for word in words { advice[word] = text } }
        for (place, list) in placed {
            for (words, text) in list { for word in words { advice["\(place.rawValue) \(word)"] = text } }
        }
        return advice
    }()

    private typealias Entry = (words: [String], text: String)

    private static let oneScreen =
        "a journey shows one screen at a time, so let the branches follow each other; work beside it is an action "
        + #"{"task": "send-mail", "with": …}"#
    private static let eachElement =
        #"let an event add one element, as in {"op": "add", "path": "/order/items/-", "value": …}, as often as it is "#
        + #"sent; {"$map": {"of": …, "each": …}} computes a list"#
    private static let anotherFlow =
        #"a state has no states in it; make them another flow, which {"type": "flow", "flow": …} starts"#
    private static let task =
        #"write a state {"type": "task", "task": "load", "on": {"done.ok": …, "done.failed": …}} for work of a back end"#
    private static let timers = #"write "timers": [{"after": "24h", "target": …}] for what happens by itself"#
    private static let branches =
        #"write {"type": "choice", "branches": [{"guard": …, "target": …}, {"target": …}]}"#
    private static let form =
        #"write "accepts": {"submit": {"type": "object", "properties": …}}, the schema of the event's data"#
    private static let rules = #"write "rules": {"submit": [{"guard": …, "at": "/name", "say": "…"}]}"#
    private static let compare = #"write {"compare": ["/order/total", "<", 100]}"#
    private static let call =
        #"an action changes data, as {"op": "replace", "path": "/order/note", "value": …} does; code runs as a command, "#
        + #"{"call": "cart/add"}, or as work of a back end, {"task": …}"#
    private static let ends =
        #"write "done.failed" in `on` of the task, and "done.timeout" for its `timeout`"#

    /// Keys, wherever they stand.
    private static let keys: [Entry] = [
        (["after", "delay", "wait", "seconds", "secondspath", "timestamp", "timestamppath", "duedate"], timers),
        (["timeoutseconds", "heartbeatseconds"], #"write "timeout": "20s""#),
        (
            ["maxattempts", "intervalseconds", "backoffrate"],
            #"write "retry": {"attempts": 3, "after": "1s", "factor": 2}"#
        ),
        (["invoke", "src", "resource", "worker", "topic", "delegateexpression"], task),
        (["ondone"], #"write "on": {"done": {"target": …}}"#),
        (["catch", "onerror", "boundaryevents"], ends),
        (
            ["resultpath", "resultselector", "outputpath"],
            #"let an action of the end keep it: "done.ok": {"actions": [{"op": "add", "path": …, "value": {"$from": "/output/…"}}]}"#
        ),
        (["parameters", "arguments", "inputpath"], #"write "input": {"name": {"$from": "/order/name"}}"#),
        (
            ["context", "datamodel", "variables", "vars", "var"],
            #"data is kept by services; describe one in a service file, and write "owns": ["order"] for one of each journey"#
        ),
        (
            ["calculatedvalues", "computed"],
            #"let an action compute it where the data changes, as in {"$multiply": ["/order/price", "/order/count"]}"#
        ),
        (["parallel", "fork", "join", "regions"], oneScreen),
        (
            ["map", "each", "foreach", "iterator", "itemprocessor", "itemspath", "loop", "templateelements"],
            eachElement
        ),
        (["states", "initial"], anotherFlow),
        (["next", "goto"], #"write "on": {"next": {"target": …}}, an event that the client sends"#),
        (["choices", "switch", "cases"], branches),
        (["end"], #"lead to a state {"type": "final"}"#),
        (["nodes", "edges", "sequenceflows"], #"write "states": {"menu": {"on": {"next": {"target": "pay"}}}, …}"#),
        (
            ["reenter", "internal"],
            #"without a target the journey stays; "target" and "nav": "replace" enter the screen anew"#
        ),
        (["triggers", "raise"], #"write "always": [{"guard": …, "target": …}], which is taken as soon as it holds"#),
        (
            ["assignee", "candidategroups", "candidateusers", "secured", "lanes", "pools", "roles"],
            #"write "requires": [{"is": "/user/authenticated"}], or another guard on /user"#
        ),
        (
            ["view", "template", "html", "component", "formkey"],
            #"write "screen": "Address", the name by which the client knows what to draw"#
        ),
        (["fields", "elements", "questions", "model", "schema", "form"], form),
        (
            ["visibleif", "enableif", "hidden", "visible"],
            #"an event with a "guard" is offered where that holds, and a {"type": "choice", …} passes a screen by"#
        ),
        (["validators", "requiredif"], rules),
        (["meta", "metadata", "tags", "comment"], #"notes are comments, and "description" at the top of the flow"#),
        (
            ["idle", "total"],
            #"this is of the "timeout" of a flow, at the top of the file; that of a screen is {"after": "5m", "target": …}"#
        ),
        (["definitions", "$defs"], #"put "definitions" into the schema that refers to them"#),
        (["onenter"], #"write "entry""#), (["viewstate", "actionstate"], #"a state is a member of "states""#),
    ]

    private static let placed: [(Place, [Entry])] = [
        (.type, types), (.guardian, guards), (.action, actions), (.function, functions), (.schema, schemas),
        (.ending, [(["data"], #"write "output": {"name": {"$from": "/order/name"}}"#)]),
        (.choice, [(["default", "else", "otherwise"], #"the last of "branches", without a guard, is the default"#)]),
        (
            .name,
            [
                (["*"], "name each event of `on` by itself"),
                ([""], #"what needs no event is "always": [{"guard": …, "target": …}]"#),
            ]
        ),
        (
            .array,
            [
                (["states"], #"write "states": {"menu": {…}, "pay": {…}}"#),
                (["on"], #"write "on": {"next": {"target": …}}"#),
                (["accepts"], #"write "accepts": {"submit": {"type": "object", …}}"#),
                (["guards"], #"write "guards": {"adult": {…}}"#),
            ]
        ),
    ]

    /// Values of `type`.
    private static let types: [Entry] = [
        (
            ["viewstate", "usertask", "page", "form", "step", "atomic", "normal"], #"what a client draws is a "screen""#
        ),
        (["parallel", "parallelgateway", "inclusivegateway"], oneScreen),
        (["map", "multiinstance"], eachElement),
        (
            ["history", "deephistory"],
            #"the stack knows where the person was; "nav": "pop_to" goes back there, and `back` says what going back does"#
        ),
        (["compound"], anotherFlow),
        (["subprocess", "callactivity", "subflow", "subflowstate"], #"what runs another flow is a "flow""#),
        (["decisionstate", "exclusivegateway", "switch"], branches),
        (
            ["servicetask", "actionstate", "scripttask", "pass"],
            #"work of a back end is a "task"; data is changed by `actions`"#
        ),
        (["endstate", "end", "endevent", "succeed", "fail"], #"an end is a "final", with an `outcome`"#),
        (["startevent"], #"`initial` names the first state"#),
        (["wait", "intermediatecatchevent"], timers),
        (["receivetask"], #"an event of a back end is named in `backend`"#),
    ]

    private static let guards: [Entry] = [
        (["type", "name", "predicate"], #"a named guard is written as its name, "guard": "adult""#),
        (
            [
                "eq", "$eq", "==", "===", "ne", "$ne", "!=", "gt", "$gt", ">", "gte", "$gte", ">=", "lt", "$lt", "<",
                "lte", "$lte", "<=", "variable", "stringequals", "numericequals", "booleanequals", "numericlessthan",
                "numericgreaterthan", "numericlessthanequals", "numericgreaterthanequals", "timestamplessthan",
                "timestampgreaterthan", "expression", "expr", "script", "condition", "operator", "conditions",
            ], compare
        ),
        (["$in", "includes", "contains", "oneof"], #"write {"in": ["/order/kind", ["meal", "drink"]]}"#),
        (
            ["$exists", "ispresent", "isnull", "empty", "notempty"],
            #"write {"has": "/order/address"}, or {"not": …} of it"#
        ),
        (["$and", "&&"], #"write {"all": […]}"#), (["$or", "||"], #"write {"any": […]}"#),
        (["$not", "!"], #"write {"not": …}"#),
        (
            ["regex", "pattern", "matches", "stringmatches"],
            #"write {"service": "order", "schema": {"properties": {"code": {"pattern": "^[A-Z]"}}}}"#
        ),
    ]

    private static let actions: [Entry] = [
        (["type", "exec", "script", "expression", "evaluate"], call),
        (
            ["raise", "send", "sendto", "emit", "dispatch"],
            #"no event is sent from within; "always": [{"guard": …, "target": …}] moves as soon as the data says so"#
        ),
        (
            ["log", "http", "fetch", "webhook", "mail", "email"],
            #"work of a back end is recorded by {"task": "send-mail", "with": …}"#
        ),
        (["$set", "$merge"], #"write {"merge": "/order", "value": {"note": …}}"#),
        (["$push"], #"write {"op": "add", "path": "/order/items/-", "value": …}"#),
        (["$inc"], #"write {"op": "replace", "path": "/order/count", "value": {"$add": ["/order/count", 1]}}"#),
        (["$unset"], #"write {"op": "remove", "path": "/order/note"}"#),
    ]

    private static let functions: [Entry] = [
        (["$now", "$date"], #"the time is {"$from": "/now"}, and its day {"$day": "/now"}"#),
        (["$length", "$size", "$len"], #"write {"$count": "/order/items"}"#),
        (["$cond", "$switch"], #"write {"$if": [guard, value, value]}"#),
        (
            ["$eq", "$ne", "$gt", "$lt", "$gte", "$lte", "$and", "$or", "$not"],
            #"a guard decides; {"$if": [{"compare": ["/order/total", "<", 100]}, value, value]} chooses a value by one"#
        ),
        (["$join"], #"write {"$join": [list, ", "]}"#),
        (["$template", "$format", "$string"], #"write {"$concat": ["Dear ", "/order/name"]}"#),
        (["$substring", "$substr", "$left"], #"write {"$slice": ["/order/name", 0, 10]}"#),
        (["$reduce"], #"write {"$sum": {"of": "/order/items", "each": "/item/price"}}"#),
        (["$random", "$uuid"], "what is random is made by a back end, in a task"),
    ]

    /// Keywords of schemas.
    private static let schemas: [Entry] = [
        (
            ["required", "isrequired", "optional", "mandatory"],
            #"the object around it names the members that must be there, "required": ["name"]"#
        ),
        (["type", "inputtype"], #"what a text is, "format" says, as in {"type": "string", "format": "email"}"#),
        (
            ["$ref"],
            #"a schema refers to its own "definitions" only; write what is meant out, or put it there"#
        ),
        (["nullable"], #"write "type": ["string", "null"]"#),
        (["choices", "options", "enumnames"], #"write "enum": ["meal", "drink"]"#),
        (
            ["visibleif", "enableif", "requiredif", "dependentrequired", "dependentschemas"],
            #"write "if", "then" and "else", or "dependencies"; rules over several members stand in "rules" beside `accepts`"#
        ),
        (["errormessage", "requirederrortext", "message", "say"], #"write "x-say": "…""#),
        (["min", "max"], #"write "minimum" and "maximum", or "minLength" and "maxLength" of a text"#),
        (["label"], #"write "title""#), (["placeholder"], #"write "examples": ["Ada"]"#),
        (["order", "uiorder", "propertyorder"], #"write "x-order": ["name", "street"]"#),
        (["regex", "regexp", "mask"], #"write "pattern": "^[0-9]{4}$""#),
        (["validators"], #"a schema has keywords such as "minLength" and "pattern""#),
    ]
}
