/// Flows for tests.
enum Flows {
    /// Sign in, two pages, finish; `breaks` writes what the schema of `counter` forbids.
    static let wizard = #"""
        { "id": "wizard", "version": 1, "initial": "start",
          "guards": { "named": {"service": "profile", "schema": {"properties": {"name": {"minLength": 1}}}} },
          "on": { "cancel": {"target": "cancelled"} },
          "timeout": {"idle": "30m"},
          "exit": [{"op": "replace", "path": "/counter/count", "value": 100}],
          "states": {
            "start": { "data": ["profile"],
              "accepts": {"sign_in": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
              "on": { "sign_in": {"target": "page1",
                        "actions": [
                          {"op": "replace", "path": "/profile/name", "value": {"$from": "/event/name"}},
                          {"op": "add", "path": "/profile/attributes/more",
                           "value": {"$from": "/event/more", "default": ""}}]} } },
            "page1": { "data": ["profile", "counter"], "requires": ["named"],
              "on": { "next": {"target": "page2"},
                      "count": {"actions": [{"op": "replace", "path": "/counter/count", "value": {"$from": "/event/n"}}]},
                      "lose": {"target": "page2",
                        "actions": [{"op": "replace", "path": "/counter/count", "value": 5},
                                    {"op": "test", "path": "/profile/name", "value": "nobody"}]} } },
            "page2": { "requires": ["named"],
              "on": { "finish": {"target": "done", "actions": [{"remove": "profile"}]} } },
            "done": { "type": "final" },
            "cancelled": { "type": "final" } } }
        """#

    /// Goes on for ever, and counts how often.
    static let loop = #"""
        { "id": "loop", "version": 1, "initial": "here",
          "states": { "here": {"on": {"again": {"target": "here", "nav": "replace"}}} } }
        """#

    /// A slide that gives way to the next after a minute.
    static let slides = #"""
        { "id": "slides", "version": 1, "initial": "one",
          "states": {
            "one": {"timeout": {"after": "1m", "target": "two"}, "on": {"skip": {"target": "two"}}},
            "two": {"on": {"rewind": {"target": "one"}}} } }
        """#
}
