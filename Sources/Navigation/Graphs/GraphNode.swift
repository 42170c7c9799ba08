/// Something that is drawn as a shape.
struct GraphNode: Sendable, Equatable {
    /// What arrows know it by: letters and digits, whatever the states are called.
    let key: String
    let shape: Shape
    /// The name, then what is to be known about it.
    var lines: [String]

    enum Shape: String, Sendable, CaseIterable {
        case start, screen, choice, flow, final
        /// Stands for every screen of the flow and of its children.
        case anywhere
    }
}

/// Something that leads from one node to another.
struct GraphArrow: Sendable, Equatable {
    let from: String
    let to: String
    let lines: [String]
    /// Whether nobody sends an event for it: going back, time that passes.
    let isQuiet: Bool
}
