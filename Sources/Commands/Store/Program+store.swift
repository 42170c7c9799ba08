import Configuration
import Glibc
import JSONDocument
import Operations
import SQLiteStorage
import Sessions
import Storage

extension Program {
    /// Maintains the file of the store, whether or not a server uses it.
    static func store(
        _ action: StoreAction, _ invocation: Invocation, _ loaded: LoadedConfiguration, _ output: ProgramOutput
    ) throws -> Int32 {
        guard case .sqlite(let path) = loaded.configuration.store else {
            throw UsageError(
                "the store is \(loaded.configuration.store), which has no file: name one with --store sqlite:FILE")
        }
        // The command can be interrupted at any time, because there is nothing to clean up.
        TerminationSignals.unblock()
        switch action {
        case .check: return try checkStore(path, loaded.configuration.encryptionKeys, output)
        case .stats:
            let statistics = try StoreStatistics(path)
            output.result(invocation["--json"] != nil ? statistics.json(of: path) : statistics.text(of: path))
        case .backup:
            let target = invocation.argument ?? ""
            let backup = try StoreBackup(of: path, to: target, replaces: invocation["--force"] != nil)
            output.result("\(target): \(backup.pages) pages, \(backup.bytes.inBinaryUnits)\n")
        case .repair:
            return try repair(path, to: invocation.argument ?? "", invocation, loaded.configuration, output)
        case .restore: try restore(invocation.argument ?? "", to: path, invocation, loaded.configuration, output)
        case .vacuum: output.result(try vacuum(path, loaded.configuration))
        case .rekey: return try rekey(path, loaded.configuration.encryptionKeys, output)
        }
        return ExitStatus.success
    }

    private static func checkStore(_ path: String, _ keys: DocumentKeys?, _ output: ProgramOutput) throws -> Int32 {
        let check = try StoreCheck.run(path, keys: keys) { output.complaint("\(path): \($0)\n") }
        output.result(
            "\(path): \(check.sessions) sessions with \(check.services) services: "
                + "\(check.findings == 0 ? "nothing is" : "\(check.findings) thing\(check.findings == 1 ? " is" : "s are")")"
                + " wrong\n")
        return check.findings == 0 ? ExitStatus.success : ExitStatus.failure
    }

    private static func repair(
        _ path: String, to target: String, _ invocation: Invocation, _ configuration: Configuration,
        _ output: ProgramOutput
    ) throws -> Int32 {
        let repair = try StoreRepair(
            path, to: target, keys: configuration.encryptionKeys, replaces: invocation["--force"] != nil
        ) {
            output.complaint("\(path): \($0)\n")
        }
        let corrected = repair.correctedPages
        output.result(
            "\(target): \(repair.sessions) sessions, \(repair.services) services, \(repair.documents) large documents, "
                + "\(repair.tasks) tasks"
                + (corrected == 0
                    ? "" : "; a flipped bit was set right on \(corrected) page\(corrected == 1 ? "" : "s")")
                + (repair.missing == 0 ? "; nothing is missing\n" : "; not everything could be read\n"))
        return repair.missing == 0 ? ExitStatus.success : ExitStatus.failure
    }

    private static func restore(
        _ backup: String, to path: String, _ invocation: Invocation, _ configuration: Configuration,
        _ output: ProgramOutput
    ) throws {
        let restore = try StoreRestore(
            of: backup, to: path, now: Int64(time(nil)), keys: configuration.encryptionKeys,
            takesDamaged: invocation["--force"] != nil
        ) { output.complaint("\(backup): \($0)\n") }
        let sessions = restore.sessions.map { ", \(String(counting: $0, "session"))" } ?? ""
        output.result(
            "\(path): restored from \(backup)\(sessions)"
                + (restore.former.map { "; the former database is \($0) now\n" } ?? "\n"))
    }

    private static func rekey(_ path: String, _ keys: DocumentKeys?, _ output: ProgramOutput) throws -> Int32 {
        guard let keys else { throw UsageError("there are no keys: name their file in encryption_keys_file") }
        let rekey = try StoreRekey(path, keys: keys) { output.complaint("\(path): \($0)\n") }
        output.result(
            "\(path): \(rekey.documents) documents of \(rekey.sessions) sessions were sealed anew, and the file and its log "
                + "rewritten: nothing else is left in them"
                + (rekey.damaged == 0 ? "\n" : ", but for \(rekey.damaged) damaged parts\n"))
        return rekey.damaged == 0 ? ExitStatus.success : ExitStatus.failure
    }

    /// Asks the server that uses the file; without a server, does it here. Only one process may write.
    private static func vacuum(_ path: String, _ configuration: Configuration) throws -> String {
        do {
            let vacuum = try StoreVacuum(path)
            return "\(path): \(vacuum.given) pages were returned, \(vacuum.left) are still free"
                + (vacuum.isRewritten ? "; the file was rewritten\n" : "\n")
        } catch StoreOpeningError.inUse {
            let space = try RemoteStore(configuration).giveBackAll(of: path)
            return "\(path): \(space.given) pages were returned by the server, \(space.left) are still free\n"
        }
    }
}

/// The actions of `concierge store`.
package enum StoreAction: String, Sendable, CaseIterable {
    case check, stats, backup, restore, repair, vacuum, rekey

    var summary: String {
        switch self {
        case .check: "check all of it; status 1 if something is wrong"
        case .stats: "print its numbers; reads all of it"
        case .backup: "copy it, as of one moment, to FILE"
        case .restore: "put FILE, a backup, in its place; no server may be using it"
        case .repair: "copy what can be read of a damaged one to FILE; no server may be using it"
        case .vacuum: "return unused pages to the file system"
        case .rekey: "encrypt all of it with the first of encryption_keys_file; no server may be using it"
        }
    }

    /// The flags that it takes.
    var switches: [String] {
        switch self {
        case .stats: ["--json"]
        case .backup, .restore, .repair: ["--force"]
        case .check, .vacuum, .rekey: []
        }
    }

    /// What is done with the file that is its argument; nil for an action without one.
    var participle: String? {
        switch self {
        case .backup, .repair: "written"
        case .restore: "restored"
        case .check, .stats, .vacuum, .rekey: nil
        }
    }
}

// The arguments of `concierge store`: the action and its file.
extension Invocation {
    func checkStoreAction() throws(UsageError) {
        guard let storeAction else { throw UsageError("store needs an action: \(Self.actionList)") }
        if let participle = storeAction.participle, argument == nil {
            throw UsageError("store \(storeAction.rawValue) needs the path of the file to be \(participle)")
        }
        for flag in ["--json", "--force"] where self[flag] != nil && !storeAction.switches.contains(flag) {
            throw UsageError("store \(storeAction.rawValue) has no flag \(flag.quoted)")
        }
    }

    mutating func takeStoreArgument(_ argument: String) throws(UsageError) {
        guard let action = storeAction else {
            storeAction = StoreAction(rawValue: argument)
            guard storeAction == nil else { return }
            let question = NearestName.question(for: argument, among: StoreAction.allCases.map(\.rawValue))
            throw UsageError("store cannot \(argument.quoted); allowed is \(Self.actionList)\(question)")
        }
        guard action.participle != nil, self.argument == nil, !argument.isEmpty else {
            throw UsageError("store takes no argument \(argument.quoted) here")
        }
        self.argument = argument
    }

    private static var actionList: String {
        "one of " + StoreAction.allCases.map(\.rawValue).joined(separator: ", ")
    }
}

/// The store of a running server, used through its admin listener.
struct RemoteStore {
    private let listener: AdminListener

    init(_ configuration: Configuration) {
        // A step may wait behind other writes.
        listener = AdminListener(configuration, timeoutSeconds: 30)
    }

    /// Sends one request after another, so that clients can write in between.
    ///
    /// - Parameter path: the file that the server must use.
    func giveBackAll(of path: String) throws(CommandFailure) -> SpaceGivenBack {
        try checkFile(path)
        var given = 0
        while true {
            let space = try giveBack()
            guard space.isPossible else {
                throw CommandFailure(
                    "a server uses the file, which can only shrink while no server does: "
                        + "stop the server and try again")
            }
            given += space.given
            guard space.left > 0, space.given > 0 else {
                return SpaceGivenBack(given: given, left: space.left, isPossible: true)
            }
        }
    }

    /// A machine may have several servers, and the configuration may name the port of another one.
    private func checkFile(_ path: String) throws(CommandFailure) {
        guard let store = try answer("GET", "/v1/stats")?[member: "store"] else { throw stranger }
        guard let identity = FileIdentity(path), store[member: "file"]?.string == identity.text else {
            throw CommandFailure(
                "a server uses the file, but the one at \(listener.place) has another store: "
                    + Self.advice)
        }
    }

    private func giveBack() throws(CommandFailure) -> SpaceGivenBack {
        guard let document = try answer("DELETE", "/v1/store/free-pages"),
            let given = document[member: "given_back"]?.int, let left = document[member: "free"]?.int,
            let isPossible = document[member: "possible"]?.bool
        else { throw stranger }
        return SpaceGivenBack(given: given, left: left, isPossible: isPossible)
    }

    /// `nil` when the body is not JSON.
    private func answer(_ method: String, _ path: String) throws(CommandFailure) -> JSONDocument? {
        let answer: PlainHTTP.Answer
        do {
            answer = try listener.send(method, path)
        } catch {
            throw CommandFailure("a server uses the file, and \(error); \(Self.advice)")
        }
        guard answer.status == 200 else { throw CommandFailure(listener.refusal(answer)) }
        return try? JSONDocument(parsing: answer.body)
    }

    private var stranger: CommandFailure {
        CommandFailure(
            "the server at \(listener.place) is not the admin listener of the server that uses the file: "
                + Self.advice)
    }

    private static let advice = "name its admin listener with --admin-host and --admin-port"
}
