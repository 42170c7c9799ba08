import JSONDocument

/// What data there is at a place of a flow, besides services, input and time.
struct DataContext {
    var event: Event
    /// Whether a child may have ended just before.
    var hasOutput: Bool

    enum Event {
        case never
        /// There may have been an event, and nothing is known of its data.
        case maybe
        /// The data has been checked against this schema.
        case shaped(JSONDocument)
    }
}
