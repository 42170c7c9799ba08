import JSONDocument

/// A task for which no journey waits: an action records it in the commit of its step, a worker does it at least once,
/// and its end moves nothing.
public struct SideTask: Sendable, Equatable {
    /// The name of the task.
    public let name: String
    /// What the work is done with.
    public let input: JSONDocument
    /// The flow whose action recorded it.
    public let flow: String
    /// The version of the flow.
    public let version: Int

    /// How many may be to be done for a session at a time, unless the caller says less. A client that makes
    /// them where no worker takes them would fill the store.
    public static let mostOfSession = 100
}

/// How tasks of a name are done for which no journey waits.
package struct SideTaskPolicy: Sendable, Equatable {
    package let retry: TaskRetry
    /// Milliseconds until a task is given up that nobody has done; nil: never.
    package let timeout: Int64?

    /// For a task of which the flow says nothing: ten attempts in about an hour and a half, since nobody is told of a
    /// failure who could try again.
    package static let usual = SideTaskPolicy(retry: TaskRetry(attempts: 10, after: 10_000, factor: 2), timeout: nil)

    static let keys = FlowKeys(["retry": .ref("retry"), "timeout": .duration])
}

extension Action {
    static let taskKeys = FlowKeys(["task": .name, "with": [:]], required: ["task"])
}

extension FlowReader {
    mutating func readSideTask(_ node: FlowNode, _ context: DataContext) -> Action? {
        checkKeys(of: node, Action.taskKeys, "an action with task")
        if let caller = context.withoutCalls { report(node.place, .badValue, "\(caller) cannot record tasks") }
        let input = node["with"].flatMap { readTemplate($0, context) }
        guard let name = name(node["task"]) else { return nil }
        sideTasks.insert(name)
        return .task(name, input: input)
    }

    /// Reads `tasks` at the top of a flow, after all actions.
    mutating func sideTaskPolicies(_ node: FlowNode?) -> [String: SideTaskPolicy] {
        members(node).reduce(into: [:]) { policies, member in
            if !sideTasks.contains(member.name) {
                report(
                    member.node.place, .unknownTask, "no action of the flow records a task \"\(member.name)\"",
                    guess: guess(member.name, among: sideTasks.sorted()))
            }
            guard let node = object(member.node, SideTaskPolicy.keys, "a task of the flow") else { return }
            policies[member.name] = SideTaskPolicy(
                retry: node["retry"].flatMap { TaskRetry(reading: $0, by: &self) } ?? SideTaskPolicy.usual.retry,
                timeout: milliseconds(node["timeout"]))
        }
    }
}
