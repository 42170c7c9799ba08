import JSONDocument

extension FlowEngine {
    /// A new journey, at its first screen.
    ///
    /// - Parameter version: nil takes the highest that is loaded.
    public func start(
        flow: String, version: Int? = nil, id: String, input: JSONDocument = .emptyObject,
        services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step {
        fatalError("to come")
    }

    /// What an event does. `back` is one that every screen has, unless it says otherwise.
    ///
    /// - Parameter data: nil, no data, is taken as an empty object.
    public func send(
        _ event: String, data: JSONDocument? = nil, to journey: Journey, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step {
        fatalError("to come")
    }

    /// Releases the whole stack and every coordinator, children first, and begins anew, maybe with another flow. Works
    /// on journeys that are over, too.
    public func restart(
        _ journey: Journey, flow: String, version: Int? = nil, input: JSONDocument = .emptyObject,
        services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step {
        fatalError("to come")
    }

    /// Gives the journey up: children first, then the stack. The caller forgets it.
    ///
    /// Cannot be refused. An `exit` that does not succeed is left out, and so is a service that it would make invalid.
    public func abandon(_ journey: Journey, services: any ServiceDocuments, now: Int64) -> Step {
        fatalError("to come")
    }

    /// Whether ``advance(_:services:now:)`` has something to do. Costs next to nothing: ask before each look.
    public func isDue(_ journey: Journey, now: Int64) -> Bool {
        fatalError("to come")
    }

    /// What time and new versions have done to the journey: it has expired, its screen's time is over, a child's time
    /// is over, or its version is gone. Nil when nothing.
    public func advance(
        _ journey: Journey, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step? {
        fatalError("to come")
    }

    /// What a client is shown.
    public func view(
        _ journey: Journey, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> JourneyView {
        fatalError("to come")
    }
}
