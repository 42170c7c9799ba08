import JSONDocument

/// Runs journeys: each function is a step from one ``Journey`` and the documents of the session's services to the next,
/// or a ``JourneyRefusal``. It keeps nothing, and the time is passed in, in milliseconds since 1970.
///
/// ```swift
/// let engine = FlowEngine(catalog: catalog)
/// var step = try engine.start(flow: "wizard", id: "main", services: documents, now: now)
/// // keep step.journey and do step.changes, together
/// step = try engine.send("sign_in", data: ["name": "Ada"], to: step.journey, services: documents, now: now)
/// ```
///
/// ## The order of effects
/// A step happens in this order, and everything of it together or not at all:
///
/// 1. The event is looked up: the screen's own, then the nearest flow's. Its data is checked, then the guards of its
///    transitions; the first that holds is taken.
/// 2. When the transition moves, the `exit` of the screen that is looked at.
/// 3. The actions of the transition.
/// 4. The move. On the way, in the order in which it comes to them: the actions of each branch that a choice takes; for
///    each child flow that starts, its input, then the flow's `entry`; for each `final`, its output, then the `exit` of
///    the flow and of all that it had started, children before parents, and then the parent's `done` transition with
///    its actions, which may lead on.
/// 5. For children that have lost their last frame: their flow's `exit`, and the parent's `done.abandoned`. Its target
///    is gone to only when the move itself named none.
/// 6. The screen that is looked at now, when it is another or was left on the way: its `requires`, then its `entry`. One
///    that shows itself again, and whose `requires` do not hold, is passed over instead.
/// 7. Each service that was written is checked against its schema.
///
/// `entry` and `exit` of screens come in pairs: a screen that is covered by another has been left, and going back to
/// it enters it again. A child flow's screens and its parent's are screens of one stack in this.
public struct FlowEngine: Sendable {
    /// The flows that journeys can run.
    public let catalog: FlowCatalog
    /// What becomes of a journey whose version is not loaded and from which no migration leads.
    public let orphans: OrphanPolicy

    /// What to do with a journey whose flow is not loaded.
    public enum OrphanPolicy: Sendable {
        /// Each call answers ``JourneyRefusal/orphaned(flow:version:)``.
        case refuse
        /// It starts over on the highest version.
        case restart
    }

    /// An engine for the flows of a catalog.
    public init(catalog: FlowCatalog, orphans: OrphanPolicy = .refuse) {
        self.catalog = catalog
        self.orphans = orphans
    }
}
