/// What `concierge init` writes: an application of two screens.
enum FirstFiles {
    static let folders = ["config", "config/services", "config/flows", "config/flows/tests"]

    static let all: [(name: String, text: String)] = [
        ("config/concierge.json", configuration), ("config/services/feedback.json", service),
        ("config/flows/feedback.json", flow), ("config/flows/tests/feedback.json", script),
    ]

    private static let configuration = """
        // Every key that is not here has its default: `concierge config` shows all of them.
        {
            // For this machine only. 0.0.0.0 is for everybody.
            "host": "127.0.0.1",
            // The flow of the journey `main`, which each session has from its first look on.
            "main_flow": "feedback"
        }

        """

    private static let service = """
        // A document that each session has for itself. `schema` says what it may hold.
        {
            "name": "feedback",
            "default": { "stars": null, "comment": "" },
            "schema": {
                "type": "object",
                "additionalProperties": false,
                "required": ["stars", "comment"],
                "properties": {
                    "stars": { "type": ["integer", "null"], "minimum": 1, "maximum": 5 },
                    "comment": { "type": "string", "maxLength": 500 }
                }
            }
        }

        """

    private static let flow = """
        // Screens, and the events that lead from one to the next. A client draws the screen and sends the events.
        {
            "id": "feedback",
            "version": 1,
            "description": "How it was: stars, and a comment",
            "initial": "stars",
            // Each journey has a document of its own, which ends with it.
            "owns": ["feedback"],
            "states": {
                "stars": {
                    "title": "How was it?",
                    "data": ["feedback"],
                    // What an event must bring along.
                    "accepts": {
                        "rate": {
                            "type": "object",
                            "required": ["stars"],
                            "properties": { "stars": { "type": "integer", "minimum": 1, "maximum": 5 } }
                        }
                    },
                    "on": {
                        "rate": {
                            "target": "comment",
                            "actions": [
                                { "op": "replace", "path": "/feedback/stars", "value": { "$from": "/event/stars" } }
                            ]
                        }
                    }
                },
                "comment": {
                    "title": "What would have made it better?",
                    "data": ["feedback"],
                    "accepts": {
                        "send": {
                            "type": "object",
                            "properties": { "comment": { "type": "string", "maxLength": 500 } }
                        }
                    },
                    "on": {
                        "send": {
                            "target": "sent",
                            "actions": [
                                {
                                    "op": "replace",
                                    "path": "/feedback/comment",
                                    "value": { "$from": "/event/comment", "default": "" }
                                }
                            ]
                        }
                    }
                },
                "sent": {
                    "type": "final",
                    "output": { "stars": { "$from": "/feedback/stars" }, "comment": { "$from": "/feedback/comment" } }
                }
            }
        }

        """

    private static let script = """
        // What must come of which events. `concierge test` runs it.
        {
            "scripts": [
                {
                    "description": "Stars and a comment are sent",
                    "steps": [
                        { "event": "rate", "data": { "stars": 4 }, "expect": { "screen": "comment" } },
                        { "event": "send", "data": { "comment": "More tea." }, "expect": { "outcome": "sent" } }
                    ]
                },
                {
                    "description": "Back changes the stars, and six are too many",
                    "steps": [
                        { "event": "rate", "data": { "stars": 1 } },
                        { "back": true, "expect": { "screen": "stars", "data": { "feedback": { "stars": 1 } } } },
                        { "event": "rate", "data": { "stars": 6 }, "expect": { "refused": "invalid_input" } }
                    ]
                }
            ]
        }

        """
}
