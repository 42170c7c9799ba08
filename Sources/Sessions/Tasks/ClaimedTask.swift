import JSONDocument

/// A task, and what is to be done.
package struct ClaimedTask: Sendable {
    package let task: StoredTask
    package let input: JSONDocument
    package let userID: String?
    package let flow: String
    package let version: Int
    /// The journey's step.
    package let step: UInt64
}
