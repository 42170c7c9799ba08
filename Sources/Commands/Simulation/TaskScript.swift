import JSONDocument

/// What tasks end with while an author tries flows out: the ends of a script, as `concierge test` takes it.
package struct TaskScript: Sendable {
    /// In the order of the script.
    private var ends: [String: [(outcome: String, output: JSONDocument)]] = [:]
    /// How often each task has ended.
    private var counts: [String: Int] = [:]

    package init() {}

    /// - Parameter name: the file's, for messages.
    package init(_ bytes: [UInt8], named name: String) throws(UsageError) {
        for (_, script) in try SimulationScript.all(bytes, named: name) {
            for step in script.steps {
                guard case .task(let task, let outcome, let output) = step else { continue }
                ends[task, default: []].append((outcome, output ?? .null))
            }
            for (task, end) in script.given.tasks where ends[task] == nil { ends[task] = [end] }
        }
        guard !ends.isEmpty else { throw UsageError("\(name): no step ends a task") }
    }

    package var names: [String] { ends.keys.sorted() }

    /// The next end of a task, and after the last the first again; nil for one that the script does not have.
    package mutating func end(of task: String) -> (outcome: String, output: JSONDocument)? {
        guard let all = ends[task] else { return nil }
        defer { counts[task, default: 0] += 1 }
        return all[counts[task, default: 0] % all.count]
    }
}
