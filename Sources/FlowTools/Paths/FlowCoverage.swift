import JSONDocument

/// Events and waits for a new journey, in order.
public struct FlowScript: Sendable, Equatable {
    /// One line of a script.
    public enum Entry: Sendable, Equatable {
        /// An event is sent.
        case event(String, data: JSONDocument)
        /// A back end sends an event that only it may send.
        case backendEvent(String, data: JSONDocument)
        /// The work for the task that the journey waits for ends.
        case task(String, outcome: String, output: JSONDocument)
        /// A user is signed in, or for nil signed out.
        case user(String?)
        /// Time passes until a timeout is due.
        case wait(milliseconds: Int64)
    }

    /// The input of the flow; nil when the flow has no schema for one.
    public let input: JSONDocument?
    /// What there is before the first line, as scripts have it: `services`, `user`, `now`, `children`; nil for nothing.
    public var given: JSONDocument?
    /// The lines of the script.
    public let entries: [Entry]
    /// The transitions that this script is the first to take, as JSON Pointers into the file.
    public let takes: [String]
}

/// Scripts that together take every transition of a flow that can be taken.
public struct FlowCoverage: Sendable, Equatable {
    /// The id of the flow.
    public let flow: String
    /// The version of the flow.
    public let version: Int
    /// The scripts, the longest first.
    public let scripts: [FlowScript]
    /// The transitions that no script takes.
    public let uncovered: [Uncovered]

    /// A transition that no script takes, and why.
    public struct Uncovered: Sendable, Equatable {
        /// The JSON Pointer of the transition in its file.
        public let transition: String
        /// Why no script takes it: a sentence without its full stop.
        public let reason: String
    }
}

extension FlowCoverage {
    /// The scripts as JSON, each as `concierge simulate` takes it:
    /// `{"flow", "version", "scripts": [{"input"?, "given"?, "events": [{"event", "data"?, "backend"?}, {"wait"},
    /// {"user"} or {"task", "outcome", "output"?}], "takes": […]}], "uncovered"}`.
    public var json: JSONDocument {
        [
            "flow": JSONDocument(flow), "version": JSONDocument(version),
            "scripts": JSONDocument(
                scripts.map { script in
                    var members: [(name: String, value: JSONDocument)] = []
                    if let input = script.input { members.append((name: "input", value: input)) }
                    if let given = script.given { members.append((name: "given", value: given)) }
                    members.append((name: "events", value: JSONDocument(script.entries.map(\.json))))
                    members.append((name: "takes", value: JSONDocument(script.takes.map { JSONDocument($0) })))
                    return JSONDocument(members: members)
                }),
            "uncovered": JSONDocument(
                uncovered.map { ["transition": JSONDocument($0.transition), "reason": JSONDocument($0.reason)] }),
        ]
    }
}

extension FlowScript.Entry {
    /// The body of the request that sends an event.
    fileprivate static func body(_ event: String, _ data: JSONDocument) -> JSONDocument {
        data.count == 0 ? ["event": JSONDocument(event)] : ["event": JSONDocument(event), "data": data]
    }

    /// The body of the request that ends a task.
    fileprivate static func end(_ outcome: String, _ output: JSONDocument) -> [(name: String, value: JSONDocument)] {
        let end = (name: "outcome", value: JSONDocument(outcome))
        return output.isNull ? [end] : [end, (name: "output", value: output)]
    }

    /// Whether the entry is something that a back end does.
    fileprivate var isFromBackend: Bool {
        switch self {
        case .backendEvent, .task, .user: true
        case .event, .wait: false
        }
    }

    /// The entry as `concierge simulate` takes it.
    public var json: JSONDocument {
        switch self {
        case .event(let name, let data): Self.body(name, data)
        case .backendEvent(let name, let data):
            JSONDocument(members: (Self.body(name, data).members ?? []) + [(name: "backend", value: true)])
        case .task(let name, let outcome, let output):
            JSONDocument(members: [(name: "task", value: JSONDocument(name))] + Self.end(outcome, output))
        case .user(let name): ["user": name.map { JSONDocument($0) } ?? .null]
        case .wait(let milliseconds):
            ["wait": JSONDocument(DurationText.format(.milliseconds(milliseconds)))]
        }
    }
}

extension FlowCoverage {
    /// The scripts as a shell script of curl commands, each in a session of its own.
    ///
    /// What back ends do goes to the admin listener, whose address is in the variable `ADMIN`.
    ///
    /// - Parameter base: the address of the server, such as `http://localhost:8080`.
    public func curl(base: String) -> String {
        var lines = ["#!/bin/sh -e", "BASE=\(Self.quoted(base))", "JSON='Content-Type: application/json'"]
        let hasBackend = scripts.contains { $0.given != nil || $0.entries.contains(where: \.isFromBackend) }
        if hasBackend { lines.append("ADMIN=${ADMIN:-http://127.0.0.1:8081}") }
        for (number, script) in scripts.enumerated() {
            lines.append("")
            lines.append("# Script \(number + 1) takes \(script.takes.joined(separator: ", "))")
            if hasBackend {
                lines.append(#"SESSION=$(curl -sf -X POST "$BASE/v1/sessions")"#)
                lines.append(#"AUTH="Authorization: Bearer $(echo "$SESSION" | jq -r .token)""#)
                lines.append(#"ID=$(echo "$SESSION" | jq -r .session.id)"#)
            } else {
                lines.append(#"AUTH="Authorization: Bearer $(curl -sf -X POST "$BASE/v1/sessions" | jq -r .token)""#)
            }
            lines += Self.calls(for: script.given)
            let flow = JSONDocument(flow)
            let start: JSONDocument = script.input.map { ["flow": flow, "input": $0] } ?? ["flow": flow]
            lines.append(Self.call("PUT", "journeys/main", start))
            lines += script.entries.map { entry in
                switch entry {
                case .event: Self.call("POST", "journeys/main/events", entry.json)
                case .backendEvent(let name, let data):
                    Self.adminCall("sessions/$ID/journeys/main/events", FlowScript.Entry.body(name, data))
                case .user(let name): Self.user(name.map { ["user_id": JSONDocument($0)] })
                case .task(let name, let outcome, let output):
                    "TASK=$(" + Self.adminCall("tasks/claims", ["task": JSONDocument(name)])
                        + " | jq -r '.items[0].id')\n"
                        + Self.adminCall(
                            "tasks/$TASK/result", JSONDocument(members: FlowScript.Entry.end(outcome, output)))
                case .wait(let milliseconds): "sleep \(Self.seconds(milliseconds))"
                }
            }
        }
        for transition in uncovered {
            lines.append("")
            lines.append("# Nothing takes \(transition.transition): \(transition.reason)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The requests that make what a script begins with. The time is the server's, and its child flows run.
    private static func calls(for given: JSONDocument?) -> [String] {
        let written = (given?[member: "services"]?.members ?? []).map { name, state in
            adminCall("sessions/$ID/services/\(name)", state, method: "PUT") + " -H 'If-Match: *'"
        }
        let signIn = given?[member: "user"].map { Self.user($0) }
        let ends = given?[member: "children"].map { "# Here the child flows must end so: \($0)" }
        return written + [signIn, ends].compactMap(\.self)
    }

    private static func user(_ body: JSONDocument?) -> String {
        guard let body else { return #"curl -sf -X DELETE "$ADMIN/v1/sessions/$ID/user""# }
        return #"AUTH="Authorization: Bearer $("# + adminCall("sessions/$ID/user", body, method: "PUT")
            + #" | jq -r .token)""#
    }

    private static func call(_ method: String, _ path: String, _ body: JSONDocument) -> String {
        #"curl -sf -X \#(method) "$BASE/v1/sessions/current/\#(path)" -H "$AUTH" -H "$JSON" -d \#(quoted(body.description))"#
    }

    private static func adminCall(_ path: String, _ body: JSONDocument, method: String = "POST") -> String {
        #"curl -sf -X \#(method) "$ADMIN/v1/\#(path)" -H "$JSON" -d \#(quoted(body.description))"#
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let rest = milliseconds % 1000
        guard rest > 0 else { return "\(milliseconds / 1000)" }
        var digits = "\(1000 + rest)".dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(milliseconds / 1000).\(digits)"
    }

    /// The text as one word of the shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
