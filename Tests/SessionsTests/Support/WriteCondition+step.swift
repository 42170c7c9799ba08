import Sessions

extension WriteCondition {
    /// Holds for a journey at that step.
    static func atStep(_ step: UInt64) -> Self { .init(step: step) }
}
