extension FlowDefinition {
    static func looksAtTime(_ states: [FlowState], _ guards: [NamedGuard], _ events: [EventRule]) -> Bool {
        let screens = states.compactMap(\.screen)
        let rules = events + screens.flatMap(\.events)
        let guards =
            guards.map(\.guard) + screens.flatMap(\.requires) + rules.flatMap(\.transitions).compactMap(\.guard)
        return guards.contains(where: \.looksAtTime)
    }
}

extension Guard {
    fileprivate var looksAtTime: Bool {
        switch self {
        case .shape, .named: false
        case .all(let parts), .any(let parts): parts.contains(where: \.looksAtTime)
        case .not(let part): part.looksAtTime
        case .compare(let left, _, let right): left.looksAtTime || right.looksAtTime
        }
    }
}

extension Guard.Operand {
    fileprivate var looksAtTime: Bool {
        if case .path(let path) = self { path.root == .now } else { false }
    }
}
