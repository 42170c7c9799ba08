import Configuration

/// The text of `concierge help`. The table of keys provides the flags.
enum HelpText {
    static func about(_ topic: Command?) -> String {
        guard let topic else { return program }
        switch topic {
        case .schema, .version, .help: return "\(usageLine(topic))\n\n\(sentence(topic))\n"
        case .`init`: return "\(usageLine(topic))\n\n\(sentence(topic))\n\(explanation(of: topic))"
        default: return command(topic)
        }
    }

    static var program: String {
        let commands = Command.allCases.map { "  \(padded($0.rawValue, 9))\($0.summary)" }
        return """
            concierge gives every session of your clients its own services.

            usage: concierge COMMAND [FLAGS]

            \(commands.joined(separator: "\n"))

            concierge help COMMAND explains a command.

            """
    }

    private static func command(_ topic: Command) -> String {
        var flags = [("--config FILE", "configuration file; default \(ConfigurationLoader.defaultFile) if it exists")]
        flags += ConfigurationKey.all.filter { !topic.isForOperators || $0.path.hasPrefix("admin.") }.compactMap {
            key in
            key.flagName.map { ("\($0) \(key.typeName.uppercased())", plain(key.meaning)) }
        }
        flags.append(("--set KEY=VALUE", "any other key of the configuration"))
        let own = topic.flags.map { ($0.name + ($0.value.map { " \($0)" } ?? ""), $0.meaning) }
        let lines = (own + flags).map { "  \(padded($0.0, 24))\($0.1)" }
        return """
            \(usageLine(topic))

            \(sentence(topic))
            \(explanation(of: topic))
            \(lines.joined(separator: "\n"))

            Flags win over environment variables (CONCIERGE_PORT, CONCIERGE_ADMIN_PORT, ...), and these over the file.

            """
    }

    private static func usageLine(_ topic: Command) -> String {
        switch topic {
        case .serve, .health: "usage: concierge \(topic.rawValue) [--config FILE] [FLAGS]"
        case .dev: "usage: concierge dev [--config FILE] [--tasks FILE] [FLAGS]"
        case .check: "usage: concierge check [--config FILE] [--against URL] [FLAGS]"
        case .simulate: "usage: concierge simulate FLOW --script FILE [--input JSON] [FLAGS]"
        case .test: "usage: concierge test [DIR] [--config FILE] [FLAGS]"
        case .paths: "usage: concierge paths FLOW [--curl] [FLAGS]"
        case .store:
            "usage: concierge store check|stats|backup FILE|repair FILE|vacuum|rekey [--config FILE] [--store sqlite:FILE] [FLAGS]"
        case .import: "usage: concierge import FILE [--from LINE] [--replace] [--dry-run] [--config FILE] [FLAGS]"
        case .export: "usage: concierge export FILE [--after CURSOR] [--force] [--config FILE] [FLAGS]"
        case .session, .service, .journey, .task, .user: "usage: concierge \(topic.rawValue) ACTION … [FLAGS]"
        case .report: "usage: concierge report [FILE] [--log FILE] [--config FILE] [FLAGS]"
        case .`init`: "usage: concierge init [DIR]"
        case .config: "usage: concierge config [--config FILE] [--sources|--reference] [FLAGS]"
        case .schema: "usage: concierge schema \(FileSchema.allCases.map(\.rawValue).joined(separator: "|"))"
        case .types:
            "usage: concierge types \(ClientLanguage.allCases.map(\.rawValue).joined(separator: "|")) [--config FILE] [FLAGS]"
        case .version: "usage: concierge version"
        case .help: "usage: concierge help [COMMAND]"
        }
    }

    /// The text that flags alone do not tell. If there is any, it begins and ends with an empty line.
    private static func explanation(of topic: Command) -> String {
        switch topic {
        case .dev:
            """

            Serves on loopback, with the demo. Whenever the configuration, a service or a flow is saved, the files are taken
            over, or what is wrong is printed as by `concierge check`, and what was there before goes on. Journeys whose flow
            was edited start over with their input, also under the same version. With --tasks, tasks end as the steps
            {"task": …, "outcome": …} of a script say, one after the other, and after the last from the first again; see
            `concierge help simulate`. Other tasks are left to back ends.

            """
        case .check:
            """

            URL is the admin listener of the server, such as http://127.0.0.1:8081. With https:// its certificate must be
            that of tls.certificate, or without this key one that the system trusts. The status is 0 if no problem is an
            error and no journey would be lost, 2 otherwise, 1 if the server cannot be reached.

            """
        case .simulate:
            """

            The services begin with their defaults and live as long as the command. A script is a list of steps, as one
            JSON array or one step on each line:

              {"event": "sign_in", "data": {"name": "Ada"}}
              {"navigate": "page3"}
              {"back": true}
              {"wait": "31m"}
              {"task": "check-password", "outcome": "ok", "output": {}}
              {"user": "ada"}

            With "backend": true an event is sent as by a back end. A script may also be an object with "given" and "steps",
            and a step may have "expect": see `concierge help test`. A refused step is explained, and the script continues.
            The status is 0 if every step was taken, or refused as it expects, 1 otherwise, 2 if the script is not valid.

            """
        case .test:
            """

            DIR is config/flows/tests if it is left out: `tests` in the folder of the flows. Each *.json in it is a script
            for the flow that its name begins with, or that its "flow" and "version" name:

              {"given": {"user": "ada", "services": {"profile": {"name": "Ada"}}, "now": "2026-01-31T09:00:00Z"},
               "steps": [{"event": "next", "expect": {"screen": "page2"}}]}

            `given` may also have `at`, a screen to begin at, and `children`, child flows that end at once:
            {"verification": {"outcome": "verified", "output": {}}}, and `tasks`, likewise. `expect` has `screen`, `refused` (the code of a problem),
            `outcome`, `stack` or `data`. A step without it must be taken. The status is 0 if all hold, 1 if something
            differs or there is no script, 2 if a script is not valid.

            """
        case .paths:
            """

            Prints a JSON object: `scripts`, each with `events`, which `concierge simulate` and `test` run, what is `given`
            before the first if anything is, and the transitions that it `takes`, as JSON Pointers into the flow's file; and `uncovered`, the transitions that no script was found for,
            and why. With --curl it prints a shell script that needs curl and jq.

            """
        case .types:
            """

            Prints one file: `ts` for the module in clients/js, `swift` for ConciergeClient. It has the states of services,
            the ids, screens, events and outcomes of flows, and the inputs and outputs of commands, in every loaded version.
            What a schema says and no type can is left out: a value that the schema allows always fits its type.
            docs/web.md and docs/swift-client.md show how to use it.

            """
        case .store:
            """

            \(StoreAction.allCases.map { "  \(padded($0.rawValue, 8))\($0.summary)" }.joined(separator: "\n"))

            A server may be using the file, but for restore, repair and rekey; check, stats, backup and repair only read. If a server uses the file, vacuum
            asks it on its admin listener. docs/store.md says more. The status is 0 for success, 1 if something is wrong or failed, 2
            for a command line that is not valid.

            """
        case .import:
            """

            Sends the lines of FILE in order to the admin listener of this configuration, or to the one that
            CONCIERGE_URL names, and prints one report. After an interruption send FILE again, or go on with --from: what is there
            already is skipped. docs/moving.md says more.
            The status is 0 if FILE is complete and nothing was refused, 1 otherwise.

            """
        case .export:
            """

            FILE gets what the admin listener of this configuration, or the one in CONCIERGE_URL, exports, and is checked.
            docs/moving.md says more. The status is 0 if it is complete, 1 otherwise.

            """
        case .session, .service, .journey, .task, .user:
            """

            \(AdminCall.help(of: topic))

            The server is the one whose admin listener CONCIERGE_URL names, as in http://127.0.0.1:8081, or that of this
            configuration. What ends or removes something asks first on a terminal, and elsewhere needs --yes. Where the
            output is no terminal it is JSON. The status is 0 for success, 1 for a refusal or if no server responds, 2 for
            a command line that is not valid.

            """
        case .report:
            """

            FILE is concierge-report-TIME.tar.gz if it is left out. It has the version, the system, its limits, this
            configuration with secrets masked, what `concierge check` says, the names and digests of flows and services,
            and health, numbers and metrics of the server that CONCIERGE_URL or this configuration names. It has nothing
            of sessions, and of the lines of --log only times, events, routes, statuses, codes and names of flows.

            """
        case .`init`:
            """

            DIR is the working directory if it is left out. It is made if it does not exist. Nothing is overwritten: if DIR
            has a folder `config` already, the status is 1 and nothing is written.

            """
        case .serve, .config, .schema, .health, .version, .help: ""
        }
    }

    private static func sentence(_ topic: Command) -> String {
        topic.summary.prefix(1).uppercased() + topic.summary.dropFirst() + "."
    }

    /// The text without the reference's marks around names.
    private static func plain(_ meaning: String) -> String {
        meaning.filter { $0 != "`" }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
