import JSONDocument
import Operations
import Sessions

extension Log {
    /// Writes what has become of a task, or of the code of a service.
    func write(_ note: ServiceNote) {
        switch note {
        case .slow(let service, let command, let duration):
            write(.warning, "slow_command") { line in
                line.add("service", service)
                line.add("command", command)
                line.add("cpu_ms", Int(duration.milliseconds))
            }
        case .held(let id, let name, let outcome, let problem):
            write(.error, "task_held") { line in
                line.add(id, named: name)
                line.add("outcome", outcome)
                line.add("detail", problem[member: "detail"]?.string ?? problem[member: "title"]?.string ?? "")
            }
        case .undone(let id, let name, let reason):
            write(.error, "task_given_up") { line in
                line.add(id, named: name)
                line.add("detail", bounded: reason)
            }
        case .failed(let service, let hook, let reason):
            write(.error, "hook_failed") { line in
                line.add("service", service)
                line.add("hook", hook)
                line.add("detail", reason)
            }
        }
    }
}
