/// Runs journeys: each function takes one ``Journey`` and the documents of the session's services, and returns the next
/// journey as a ``Step``, or throws a ``JourneyRefusal``. It stores nothing. The caller passes the time, in
/// milliseconds since 1970.
///
/// ```swift
/// let engine = FlowEngine(catalog: catalog)
/// var step = try engine.start(flow: "wizard", id: "main", services: documents, now: now)
/// // store step.journey and apply step.changes, together
/// step = try engine.send("sign_in", data: ["name": "Ada"], to: step.journey, services: documents, now: now)
/// ```
///
/// ## The order of effects
/// A step has its effects in this order, all of them or none:
///
/// 1. The rule for the event is found: the screen's own, else the nearest flow's. The event's data is checked. The
///    first transition whose guard holds is taken.
/// 2. When the transition moves, the `exit` of the top screen runs.
/// 3. The actions of the transition run.
/// 4. The stack moves. On the way run, in the order in which the journey reaches them: the actions of each branch that
///    a choice takes; for each child flow that starts, its input and then its `entry`; for each `final`, its output,
///    then the `exit` of the flow and of all flows that it had started, children before parents, and then the parent's
///    `done` transition with its actions, which may lead on.
/// 5. Children that have lost their last frame are released: their flow's `exit` runs, then the parent's
///    `done.abandoned`. Its target counts only when the move itself had none.
/// 6. When another screen is on top than before, or the top screen was left on the way, its `requires` are tested, then
///    its `entry` runs. A screen that was uncovered and whose `requires` do not hold is skipped instead. A step that
///    follows a fact, such as the result of a task, is not refused by them: see 7.
/// 7. Where the screen may not stay on top, because its `requires` do not hold any more or the guard of an `always`
///    holds, the journey moves on by that, with the same effects, until it may stay.
/// 8. Each service that was written is checked against its schema.
///
/// Right after the actions of a list have run, what they invalidate is set back.
///
/// `entry` and `exit` of screens come in pairs: a screen that is covered by another has been left, and going back to it
/// enters it again. For this, the screens of child flows and of their parents are screens of one stack.
public struct FlowEngine: Sendable {
    /// The flows that journeys run.
    public let catalog: FlowCatalog
    /// What becomes of a journey whose version is not loaded and from which no migration leads.
    public let orphans: OrphanPolicy

    /// Choices and child flows may lead on this often before the journey reaches a screen. No sensible flow needs
    /// twenty.
    package static let maximumHops = 100

    /// What becomes of a journey whose version is not loaded.
    public enum OrphanPolicy: String, Sendable, CaseIterable {
        /// Each call throws ``JourneyRefusal/orphaned(flow:version:)``.
        case refuse
        /// The journey starts over on the highest version.
        case restart
    }

    /// Runs journeys on the flows of a catalog.
    public init(catalog: FlowCatalog, orphans: OrphanPolicy = .refuse) {
        self.catalog = catalog
        self.orphans = orphans
    }
}
