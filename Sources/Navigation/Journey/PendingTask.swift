import JSONDocument

/// Work outside that a journey waits for. The top frame is that of its state for as long as it is there.
///
/// A class, because steps copy journeys, and most have none.
public final class PendingTask: Sendable {
    /// The number of the step that began it: unique within the journey, and it never comes back.
    public let number: UInt64
    /// The name of the task.
    public let name: String
    /// What the work is done with.
    public let input: JSONDocument

    init(number: UInt64, name: String, input: JSONDocument) {
        self.number = number
        self.name = name
        self.input = input
    }

    func numbered(_ number: UInt64) -> PendingTask { PendingTask(number: number, name: name, input: input) }
}

extension PendingTask: Equatable {
    public static func == (one: PendingTask, other: PendingTask) -> Bool {
        one.number == other.number && one.name == other.name && one.input == other.input
    }
}
