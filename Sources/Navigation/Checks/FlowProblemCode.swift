/// The kinds of problem, by the stable names that lines of `concierge check` and the documentation use.
public enum FlowProblemCode: String, Sendable, CaseIterable {
    case notJSON = "not_json"

    public var severity: FlowProblem.Severity { .error }
}
