/// A transition, or a branch of a choice, that was taken.
struct TakenTransition: Sendable, Hashable {
    let flow: String
    let version: Int
    /// Where it stands in the flow's file, as a JSON Pointer.
    let place: String
}

extension StepRun {
    mutating func note(_ place: @autoclosure () -> String, of coordinator: Int) {
        guard trace != nil, let running = journey.coordinator(coordinator) else { return }
        trace?.append(TakenTransition(flow: running.flow, version: running.version, place: place()))
    }
}
