import JSONDocument

// What stands behind `concierge store`: what to do, and for a backup where to.
extension Invocation {
    func checkStoreAction() throws(UsageError) {
        guard let storeAction else { throw UsageError("store needs to be told what to do: \(Self.actionList)") }
        guard storeAction != .backup || backupFile != nil else {
            throw UsageError("store backup needs the path of the file to be written")
        }
        let given = [("--json", showsJSON), ("--force", replaces)]
        for (flag, isGiven) in given where isGiven && !storeAction.switches.contains(flag) {
            throw UsageError("store \(storeAction.rawValue) has no flag \(WrittenValue.quoted(flag))")
        }
    }

    mutating func takeStoreArgument(_ argument: String) throws(UsageError) {
        guard storeAction != nil else {
            storeAction = StoreAction(rawValue: argument)
            guard storeAction == nil else { return }
            let guess = NearestName.of(argument, among: StoreAction.allCases.map(\.rawValue))
            throw UsageError(
                "store cannot \(WrittenValue.quoted(argument)); allowed is \(Self.actionList)"
                    + (guess.map { "; did you mean \($0)?" } ?? ""))
        }
        guard storeAction == .backup, backupFile == nil, !argument.isEmpty else {
            throw UsageError("store takes no argument \(WrittenValue.quoted(argument)) here")
        }
        backupFile = argument
    }

    private static var actionList: String {
        "one of " + StoreAction.allCases.map(\.rawValue).joined(separator: ", ")
    }
}
