/// Mistakes in texts with values, in labels, and in the order and the choices of forms.
extension ProblemExample {
    private static func flow(_ screen: String, _ more: String = "") -> String {
        #"{"id": "f", "version": 1, "initial": "a", "states": {"a": {\#(screen)}}\#(more)}"#
    }

    private static func title(_ text: String) -> String { flow(#""title": "\#(text)", "on": {"go": {"target": "a"}}"#) }

    private static func form(_ schema: String, _ more: String = "") -> String {
        flow(#""accepts": {"go": \#(schema)}, "on": {"go": {"target": "a"\#(more)}}"#)
    }

    private static func options(_ options: String, _ more: String = "") -> String {
        form(#"{"properties": {"x": {"x-options": \#(options)\#(more)}}}"#)
    }

    private static let secret = #"{"properties": {"pin": {"type": "string", "writeOnly": true}}}"#
    private static let place = "/states/a/accepts/go/properties/x/x-options"

    static let texts: [ProblemExample] = [
        .init(.unknownService, "/states/a/title", guess: "profile", title("{/profil/name}")),
        .init(.valueNever, "/states/a/title", guess: "/profile/name", title("Hello {/profile/nmae}!")),
        .init(.valueNever, "/states/a/title", title("{/event/name}")),
        .init(.valueNever, "/states/a/title", title("{/output/name}")),
        .init(.badPointer, "/states/a/title", title("Hello {/profile/name")),
        .init(.badPointer, "/states/a/title", title("{/a~2b}")),
        .init(.badValue, "/states/a/title", title("{/now}")),
        .init(
            .badValue, "/guards/g/say",
            flow(
                #""on": {"go": {"target": "a", "guard": {"not": "h"}}}"#,
                #", "guards": {"g": {"is": "/limits/x", "say": {"en": "{/now}"}}, "h": {"all": ["g"]}}"#)),
        .init(
            .badValue, "/guards/g/say",
            flow(
                #""requires": ["g"], "on": {"go": {"target": "a"}}"#,
                #", "guards": {"g": {"is": "/limits/x", "say": "{/now}"}}"#)),
        .init(
            .badValue, "/states/a/accepts/go/properties/x/x-say", form(#"{"properties": {"x": {"x-say": "{/now}"}}}"#)),
        .init(
            .badValue, "/states/a/labels/back",
            flow(#""labels": {"back": "Back"}, "back": false, "on": {"go": {"target": "a"}}"#)),
        .init(.badValue, "/states/a/title", title("{/profile}")),
        .init(.badValue, "/states/a/title", title("{/basket/items}")),
        .init(.hiddenService, "/states/a/title", severity: .warning, title("At most {/vault/limit}")),
        .init(
            .hiddenService, "\(place)/of", severity: .warning,
            options(#"{"of": "/vault/items", "value": "/item"}"#)),
        .init(
            .textNotExpression, "/states/a/title", guess: "{/profile/name}", severity: .warning,
            title("Hello {profile.name}")),
        .init(
            .textNotExpression, "/states/a/title", guess: "{/profile/email}", severity: .warning, title("{email}")),
        .init(
            .textNotExpression, "/states/a/title", guess: "{/profile/name}", severity: .warning,
            title("Hello {{ profile.name }}")),
        .init(
            .textNotExpression, "/states/a/title", guess: "{/profile/name}", severity: .warning,
            title("{{/profile/name}}")),
        .init(.textNotExpression, "/states/a/title", severity: .warning, title("a { b")),
        .init(
            .textNotExpression, "/description", severity: .warning,
            flow(#""on": {"go": {"target": "a"}}"#, #", "description": "{/profile/name}""#)),
        .init(
            .unknownService, "/states/a/title/de",
            flow(#""title": {"en": "Hello", "de": "{/x/y}"}, "on": {"go": {"target": "a"}}"#)),
        .init(
            .undeclaredMember, "/states/a/on/go/say", guess: "/event/name",
            form(#"{"properties": {"name": {}}}"#, #", "say": "{/event/nmae}""#)),
        .init(
            .textNotExpression, "/states/a/on/go/say", guess: "{/event/name}", severity: .warning,
            form(#"{"properties": {"name": {}}}"#, #", "say": "{name}""#)),
        .init(.badValue, "/states/a/on/go/say", form(secret, #", "say": "{/event/pin}""#)),
        .init(.valueNever, "/states/a/on/go/say", form("{}", #", "say": "{/result/x}""#)),
        .init(
            .unknownService, "/guards/g/say",
            flow(
                #""on": {"go": {"target": "a", "guard": "g"}}"#,
                #", "guards": {"g": {"is": "/limits/x", "say": "{/x/y}"}}"#)),
        .init(.valueNever, "/states/a/accepts/go/description", form(#"{"description": "{/event/x}"}"#)),
        .init(
            .unknownEvent, "/states/a/labels/og", guess: "go",
            flow(#""labels": {"og": "Go"}, "on": {"go": {"target": "a"}}"#)),
        .init(
            .unknownEvent, "/labels/sotp", guess: "stop",
            flow(
                #""on": {"go": {"target": "a"}}"#,
                #", "labels": {"sotp": "Stop"}, "on": {"stop": {"target": "a"}}"#)),
        .init(.wrongType, "/states/a/labels/go", flow(#""labels": {"go": 7}, "on": {"go": {"target": "a"}}"#)),
        .init(
            .undeclaredMember, "/states/a/accepts/go/x-order/1", guess: "name",
            form(#"{"x-order": ["age", "nmae"], "properties": {"age": {}, "name": {}}}"#)),
        .init(
            .badValue, "/states/a/accepts/go/x-order/1",
            form(#"{"x-order": ["age", "age"], "properties": {"age": {}}}"#)),
        .init(.wrongType, "/states/a/accepts/go/x-order", form(#"{"x-order": "age", "properties": {"age": {}}}"#)),
        .init(
            .undeclaredMember, "/states/a/accepts/go/properties/b/items/x-order/0",
            form(#"{"properties": {"b": {"items": {"x-order": ["age"]}}}}"#)),
        .init(
            .doubtfulSchema, "/states/a/accepts/go/properties/x/x-option", guess: "x-options", severity: .warning,
            form(#"{"properties": {"x": {"x-option": {}}}}"#)),
        .init(.wrongType, place, options(#""/limits/x""#)),
        .init(.missingKey, place, options(#"{"of": "/limits/x"}"#)),
        .init(.missingKey, place, options(#"{"value": "/item/id"}"#)),
        .init(.unknownKey, "\(place)/lable", options(#"{"of": "/limits/x", "value": "/item", "lable": "/item"}"#)),
        .init(.badValue, "\(place)/of", options(#"{"of": "/quote/text", "value": "/item"}"#)),
        .init(.unknownService, "\(place)/of", guess: "basket", options(#"{"of": "/baskt/items", "value": "/item"}"#)),
        .init(
            .valueNever, "\(place)/value", guess: "/item/name",
            options(#"{"of": "/basket/items", "value": "/item/nmae"}"#)),
        .init(.badValue, "\(place)/value", options(#"{"of": "/basket/items", "value": "name"}"#)),
        .init(
            .badValue, "\(place)/title", options(#"{"of": "/basket/items", "value": "/item/name", "title": "/item"}"#)),
        .init(
            .forbiddenValue, "\(place)/value",
            options(#"{"of": "/basket/items", "value": "/item/price"}"#, #", "type": "string""#)),
        .init(
            .badValue, "\(place)/of",
            options(
                #"{"of": {"$filter": {"of": "/basket/items", "where": {"compare": ["/item/due", "<", {"$day": "/now"}]}}}, "value": "/item/name"}"#
            )),
        .init(
            .badValue, "/states/a/accepts/go/anyOf/0/x-options",
            form(#"{"anyOf": [{"x-options": {"of": "/limits/x", "value": "/item"}}]}"#)),
        .init(
            .badValue, "/input/properties/x/x-options",
            flow(
                #""on": {"go": {"target": "a"}}"#,
                #", "input": {"properties": {"x": {"x-options": {"of": "/limits/x", "value": "/item"}}}}"#)),
        .init(
            .badValue, "/guards/g/schema/properties/x/x-options",
            flow(
                #""on": {"go": {"target": "a", "guard": "g"}}"#,
                #", "guards": {"g": {"service": "limits", "schema": {"properties": {"x": {"x-options": {"of": "/limits/x", "value": "/item"}}}}}}"#
            )),
        // A choice is a string, a number, a boolean or null; an object may have what is never shown.
        .init(
            .badValue, "\(place)/value", options(#"{"of": "/basket/items", "value": "/item", "title": "/item/name"}"#)),
    ]
}
