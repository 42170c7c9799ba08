import JSONDocument

/// What of the data decides when something happens by itself in a journey of a flow. In most flows nothing does: their
/// deadlines only depend on when the journey moved.
struct FlowClock: Sendable {
    /// Whether a standing rule looks at the time: an `always`, or the `requires` of a screen.
    let hasRules: Bool
    /// The services that such rules read, and timers that are due at a moment of the data. A write of one of them may
    /// change when a journey is due.
    let services: Set<String>
    /// Whether a write may change when a journey is due.
    let isNeeded: Bool

    init(_ timers: [FlowTimer], _ states: [FlowState], _ always: [Transition], named: [NamedGuard]) {
        let screens = states.compactMap(\.screen)
        let moments = (timers + screens.flatMap(\.timers)).compactMap(\.at)
        var reads = Reads(named: named)
        for moment in moments { reads.add(moment) }
        var hasRules = false
        let standing = screens.flatMap(\.requires) + (always + screens.flatMap(\.always)).compactMap(\.guard)
        // Usually none does, and a flow may have 10,000 screens.
        if (standing + named.map(\.guard)).contains(where: \.looksAtTime) {
            for guardian in standing {
                var rule = Reads(named: named)
                rule.add(guardian)
                guard rule.looksAtTime else { continue }
                hasRules = true
                reads.services.formUnion(rule.services)
            }
        }
        self.hasRules = hasRules
        services = reads.services
        isNeeded = hasRules || !moments.isEmpty
    }

    /// What guards and values read.
    private struct Reads {
        let named: [NamedGuard]
        var services: Set<String> = []
        var looksAtTime = false
        /// The flow is not checked yet, so names may refer to each other in a circle.
        private var seen: Set<Int> = []

        init(named: [NamedGuard]) { self.named = named }

        mutating func add(_ template: ValueTemplate) {
            var paths: [DataPath] = []
            _ = template.contains { path in
                paths.append(path)
                return false
            }
            for path in paths { add(path) }
            for guardian in template.guards { add(guardian) }
        }

        mutating func add(_ guardian: Guard) {
            switch guardian {
            case .shape(let path, _): add(path)
            case .named(let place): if seen.insert(place).inserted { add(named[place].guard) }
            default:
                for value in guardian.values { add(value) }
                for part in guardian.parts { add(part) }
            }
        }

        private mutating func add(_ path: DataPath) {
            if path.root == .now { looksAtTime = true }
            if let service = path.service { services.insert(service) }
        }
    }
}
