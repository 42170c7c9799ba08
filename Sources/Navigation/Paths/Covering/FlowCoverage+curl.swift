import JSONDocument

extension FlowCoverage {
    /// The scripts as a shell script of curl commands, each in a session of its own.
    ///
    /// - Parameter base: where the server is, as in `http://localhost:8080`.
    public func curl(base: String) -> String {
        var lines = ["#!/bin/sh -e", "BASE=\(Self.quoted(base))", "JSON='Content-Type: application/json'"]
        for (number, script) in scripts.enumerated() {
            lines.append("")
            lines.append("# Script \(number + 1) takes \(script.takes.joined(separator: ", "))")
            lines.append(#"AUTH="Authorization: Bearer $(curl -sf -X POST "$BASE/v1/sessions" | jq -r .token)""#)
            let flow = JSONDocument(flow)
            let start: JSONDocument = script.input.map { ["flow": flow, "input": $0] } ?? ["flow": flow]
            lines.append(Self.call("PUT", "journeys/main", start))
            lines += script.entries.map { entry in
                switch entry {
                case .event: Self.call("POST", "journeys/main/events", entry.json)
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

    private static func call(_ method: String, _ path: String, _ body: JSONDocument) -> String {
        #"curl -sf -X \#(method) "$BASE/v1/sessions/current/\#(path)" -H "$AUTH" -H "$JSON" -d \#(quoted(body.description))"#
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let rest = milliseconds % 1000
        guard rest > 0 else { return "\(milliseconds / 1000)" }
        var digits = "\(1000 + rest)".dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(milliseconds / 1000).\(digits)"
    }

    /// As one word of the shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
