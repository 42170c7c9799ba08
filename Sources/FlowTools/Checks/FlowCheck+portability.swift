import Navigation

extension FlowCheck {
    /// Reports what a portable flow, or a flow that it starts, uses and a journey cannot take along: a service of the
    /// session that no coordinator owns and flows may write.
    mutating func checkPortability() {
        guard flow.ownership.isPortable else { return }
        var open = [(flow: flow, owned: Set(flow.ownership.services), state: String?.none)]
        var seen: Set<String> = []
        var reported: Set<String> = []
        while let (next, owned, state) = open.popLast() {
            // Seen by another parent, it may own less; the services tell the two apart.
            guard seen.insert("\(next.id) \(next.version) \(owned.sorted())").inserted else { continue }
            for service in all.services.used(by: FlowUses(next)).sorted() where !owned.contains(service) {
                guard all.services[service].map({ !$0.isReadOnly }) ?? false, reported.insert(service).inserted else {
                    continue
                }
                report(
                    state.map { ["states", $0, "flow"] } ?? ["portable"], .notPortable,
                    "\(next.id) uses \"\(service)\", which stays behind when a journey moves to another session; write "
                        + "\"owns\": [\"\(service)\"]")
            }
            for step in next.states {
                guard let child = step.childFlow,
                    let definition = all.catalog.flow(child.flow, version: child.version)
                else { continue }
                open.append(
                    (definition, owned.union(definition.ownership.services), state ?? step.id))
            }
        }
    }
}

extension ServiceDirectory {
    /// The services that a flow names, and those that the commands use that it calls.
    fileprivate func used(by uses: FlowUses) -> Set<String> {
        let called = names.compactMap { self[$0] }.flatMap { entry in
            entry.commands.filter { uses.calls.contains("\(entry.name)/\($0.name)") }
        }
        return called.reduce(uses.names) { $0.union($1.services) }
    }
}
