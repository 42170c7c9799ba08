import JSONDocument

/// The data of a journey as one of its flows sees it, for tools that ask what would hold.
package struct FlowLook {
    private let scope: DataScope
    package let coordinator: Int
    /// The flow that sees it.
    package let flow: FlowDefinition

    fileprivate init(_ scope: DataScope, of coordinator: Int, in flow: FlowDefinition) {
        self.scope = scope
        self.coordinator = coordinator
        self.flow = flow
    }

    /// Nil where there is none, or an event would give it.
    package func value(of template: ValueTemplate) -> JSONDocument? {
        guard !template.contains({ $0.root == .event }) else { return nil }
        return try? scope.value(of: template)
    }

    /// Nil where an event decides, or nothing can.
    package func holds(_ guardian: Guard) -> Bool? {
        switch scope.test(guardian) {
        case .holds: true
        case .fails: false
        case .unknown, .undecided: nil
        }
    }
}

extension FlowEngine {
    /// What each coordinator of a journey sees, that of the top screen first.
    package func looks(at journey: Journey, services: any ServiceDocuments, now: Int64) -> [FlowLook] {
        guard let top = journey.top?.coordinator else { return [] }
        var run = StepRun(self, journey, services, now: now, event: .unknown)
        let others = journey.coordinators.map(\.id).filter { $0 != top }
        return ([top] + others).compactMap { id in
            guard let scope = try? run.scope(of: id), let flow = try? run.flow(of: id) else { return nil }
            return FlowLook(scope, of: id, in: flow)
        }
    }
}
