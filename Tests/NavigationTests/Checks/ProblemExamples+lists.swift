/// Mistakes in functions of lists, in guards about lists, and in values that are paths.
extension ProblemExample {
    /// A screen whose event stores a value.
    private static func value(_ value: String) -> String {
        flow(#"{"actions": [{"op": "add", "path": "/limits/x", "value": \#(value)}]}"#)
    }

    private static func guarded(_ guardian: String) -> String { flow(#"{"target": "a", "guard": \#(guardian)}"#) }

    private static func flow(_ transition: String) -> String {
        #"{"id": "f", "version": 1, "initial": "a", "states": {"a": {"on": {"go": \#(transition)}}}}"#
    }

    private static let place = "/states/a/on/go/actions/0/value"
    private static let guardPlace = "/states/a/on/go/guard"

    static let lists: [ProblemExample] = [
        .init(
            .unknownKey, "\(place)/$sum/eech", guess: "each", value(#"{"$sum": {"of": "/basket/items", "eech": 1}}"#)),
        .init(.missingKey, "\(place)/$map", value(#"{"$map": {"of": "/basket/items"}}"#)),
        .init(.missingKey, "\(place)/$filter", value(#"{"$filter": {"of": "/basket/items"}}"#)),
        .init(.missingKey, "\(place)/$sum", value(#"{"$sum": {"each": "/item"}}"#)),
        .init(.wrongType, "\(place)/$sum", value(#"{"$sum": "/basket/items"}"#)),
        .init(.wrongType, "\(place)/$sort/descending", value(#"{"$sort": {"of": "/basket/names", "descending": 1}}"#)),
        .init(.badValue, "\(place)/$sum/of", value(#"{"$sum": {"of": "/quote/text"}}"#)),
        .init(.badValue, "\(place)/$sum/of", value(#"{"$sum": {"of": "/basket/names"}}"#)),
        .init(.badValue, "\(place)/$sum/each", value(#"{"$sum": {"of": "/basket/items", "each": "/item/name"}}"#)),
        .init(.badValue, "\(place)/$sort/of", value(#"{"$sort": {"of": "/basket/items"}}"#)),
        .init(.badValue, "\(place)/$max", value(#"{"$max": "/basket/items"}"#)),
        .init(.badValue, "\(place)/$join/0", value(#"{"$join": ["/basket/items", ", "]}"#)),
        .init(.badValue, "\(place)/$join/1", value(#"{"$join": ["/basket/names", 7]}"#)),
        .init(.badValue, "\(place)/$keys", value(#"{"$keys": "/basket/names"}"#)),
        .init(.badValue, "\(place)/$max", value(#"{"$max": ["/basket/names"]}"#)),
        .init(.badValue, "\(place)/$keys", value(#"{"$keys": ["/basket"]}"#)),
        .init(.badValue, "\(place)/$upper", value(#"{"$upper": ["/quote/text"]}"#)),
        .init(.badValue, "\(place)/$round", value(#"{"$round": [1]}"#)),
        .init(.badValue, "\(place)/$upper", value(#"{"$upper": {"$slice": ["/basket/names", 1]}}"#)),
        .init(
            .valueNever, "\(place)/$sum/each", guess: "/item/price",
            value(#"{"$sum": {"of": "/basket/items", "each": "/item/prise"}}"#)),
        .init(
            .valueNever, "\(place)/$map/each/$map/each", guess: "/item/name",
            value(
                #"{"$map": {"of": {"$sort": {"of": "/basket/items", "by": "/item/price"}}, "each": {"$map": {"of": {"$filter": {"of": "/basket/items", "where": {"has": "/item/kind"}}}, "each": "/item/nane"}}}}"#
            )),
        .init(.valueNever, "\(place)/$map/each", value(#"{"$map": {"of": "/basket/items", "each": "/index/x"}}"#)),
        .init(
            .unknownService, "\(place)/$add/0", value(#"{"$add": ["/item/price", 1]}"#)),
        .init(
            .unknownService, "\(place)/$sum/of", guess: "basket", value(#"{"$sum": {"of": "/baskte/items"}}"#)),
        .init(
            .textNotExpression, "\(place)/$concat/0", guess: "/quote", severity: .warning,
            value(#"{"$concat": ["/qoute/text", "!"]}"#)),
        .init(
            .undeclaredMember, "\(place)/$map/each", severity: .warning,
            #"{"id": "f", "version": 1, "initial": "a", "input": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "object", "properties": {"name": {}}}}}}, "states": {"a": {"on": {"go": {"actions": [{"op": "add", "path": "/limits/x", "value": {"$map": {"of": "/input/list", "each": "/item/colour"}}}]}}}}}"#
        ),
        .init(
            .forbiddenValue, "/states/a/on/go/actions/0/value",
            flow(
                #"{"actions": [{"op": "add", "path": "/basket/total", "value": {"$join": ["/basket/names", ""]}}]}"#)),
        .init(.badValue, "\(guardPlace)/in", guarded(#"{"in": ["/quote/text"]}"#)),
        .init(.badValue, "\(guardPlace)/in/1", guarded(#"{"in": ["/quote/text", "/quote/author"]}"#)),
        .init(
            .guardNever, "\(guardPlace)/in", severity: .warning, guarded(#"{"in": ["/quote/text", [1, 2]]}"#)),
        .init(.guardNever, "\(guardPlace)/in", severity: .warning, guarded(#"{"in": [7, "/basket/names"]}"#)),
        .init(
            .guardNever, "\(guardPlace)/some/where/in", severity: .warning,
            guarded(#"{"some": {"of": "/basket/items", "where": {"in": ["/item/kind", ["meel", "drnk"]]}}}"#)),
        .init(
            .guardNever, "\(guardPlace)/every/where/compare", severity: .warning,
            guarded(#"{"every": {"of": "/basket/items", "where": {"compare": ["/item/price", ">", "5"]}}}"#)),
        .init(
            .guardNever, "\(place)/$filter/where/is", severity: .warning,
            value(#"{"$filter": {"of": "/basket/items", "where": {"is": "/item/name"}}}"#)),
        .init(
            .dayAndTime, "\(guardPlace)/some/where/compare/2", severity: .warning,
            guarded(#"{"some": {"of": "/basket/items", "where": {"compare": ["/item/due", "<", "/now"]}}}"#)),
        .init(.missingKey, "\(guardPlace)/every", guarded(#"{"every": {"of": "/basket/items"}}"#)),
        .init(.wrongType, "\(guardPlace)/some", guarded(#"{"some": ["/basket/items"]}"#)),
        .init(
            .guardCycle, "/guards/g",
            #"{"id": "f", "version": 1, "initial": "a", "guards": {"g": {"compare": [{"$if": ["g", 1, 2]}, "==", 1]}}, "states": {"a": {"on": {"go": {"target": "a", "guard": "g"}}}}}"#
        ),
        .init(
            .guardCycle, "/guards/g",
            #"{"id": "f", "version": 1, "initial": "a", "guards": {"g": {"some": {"of": {"$filter": {"of": "/basket/items", "where": "g"}}, "where": {"has": "/item"}}}}, "states": {"a": {"on": {"go": {"target": "a", "guard": "g"}}}}}"#
        ),
        .init(
            .guardWithoutEvent, "/states/a/requires/0",
            #"{"id": "f", "version": 1, "initial": "a", "guards": {"e": {"event": true, "schema": {}}}, "states": {"a": {"requires": [{"every": {"of": "/basket/items", "where": "e"}}], "on": {"go": {"target": "a"}}}}}"#
        ),
    ]
}
