import Storage

extension Program {
    /// Looks after the file that sessions live in, whether a server has it or not.
    static func store(_ invocation: Invocation, _ loaded: LoadedConfiguration, _ output: ProgramOutput) -> Int32 {
        guard let action = invocation.storeAction else { return ExitStatus.usage }
        guard case .sqlite(let path) = loaded.configuration.store else {
            output.complaint(
                "concierge: the store is \(loaded.configuration.store), which has no file: "
                    + "name one with --store sqlite:FILE\n")
            return ExitStatus.usage
        }
        // Nothing has to be put in order when somebody has waited long enough.
        TerminationSignals.unblock()
        do {
            switch action {
            case .check: return try checkStore(path, output)
            case .stats:
                let statistics = try StoreStatistics(path)
                output.result(invocation.showsJSON ? statistics.json(of: path) : statistics.text(of: path))
            case .backup:
                let target = invocation.backupFile ?? ""
                let backup = try StoreBackup(of: path, to: target, replaces: invocation.replaces)
                output.result("\(target): \(backup.pages) pages, \(backup.bytes.inBinaryUnits)\n")
            case .vacuum: output.result(try vacuum(path, loaded.configuration))
            }
            return ExitStatus.success
        } catch {
            output.complaint("concierge: \(error)\n")
            return ExitStatus.failure
        }
    }

    private static func checkStore(_ path: String, _ output: ProgramOutput) throws -> Int32 {
        let check = try StoreCheck.run(path) { output.complaint("\(path): \($0)\n") }
        output.result(
            "\(path): \(check.sessions) sessions with \(check.services) services: "
                + "\(check.findings == 0 ? "nothing is" : "\(check.findings) thing\(check.findings == 1 ? " is" : "s are")")"
                + " wrong\n")
        return check.findings == 0 ? ExitStatus.success : ExitStatus.failure
    }

    /// By the server that has the file, or without one. A second process that writes would be in its way.
    private static func vacuum(_ path: String, _ configuration: Configuration) throws -> String {
        do {
            let vacuum = try StoreVacuum(path)
            return "\(path): \(vacuum.given) pages were given back, \(vacuum.left) are left free"
                + (vacuum.isRewritten ? "; all of it was written anew\n" : "\n")
        } catch StoreOpeningError.inUse {
            let space = try RemoteStore(configuration).giveBackAll(of: path)
            return "\(path): \(space.given) pages were given back by the server, \(space.left) are left free\n"
        }
    }
}
