import JSONDocument

extension FlowEngine {
    /// What a client is shown.
    ///
    /// - Parameter memory: that of the ``Step`` that made the journey, when the documents of the services are still at
    ///   hand: then nothing is asked of them again.
    /// - Throws: ``JourneyRefusal/orphaned(flow:version:)`` when the journey's version is not loaded.
    public func view(
        _ journey: Journey, services: any ServiceDocuments, now: Int64, knowing memory: GuardMemory = GuardMemory()
    ) throws(JourneyRefusal) -> JourneyView {
        try viewAndMemory(journey, services: services, now: now, knowing: memory).view
    }

    /// The text of it, and what guards said on the way.
    ///
    /// - Parameter shift: how much later the clock that people read is.
    package func textAndMemory(
        _ journey: Journey, services: any ServiceDocuments, now: Int64, knowing memory: GuardMemory,
        timesMovedBy shift: Int64
    ) throws(JourneyRefusal) -> (text: ViewText, memory: GuardMemory) {
        var run = StepRun(self, journey, services, now: now, event: .unknown, knowing: memory)
        let text = try run.text(timesMovedBy: shift)
        return (text, run.services.memory)
    }

    /// The view, with what guards said on the way.
    package func viewAndMemory(
        _ journey: Journey, services: any ServiceDocuments, now: Int64, knowing memory: GuardMemory
    ) throws(JourneyRefusal) -> (view: JourneyView, memory: GuardMemory) {
        var run = StepRun(self, journey, services, now: now, event: .unknown, knowing: memory)
        let view = try run.view()
        return (view, run.services.memory)
    }
}

extension StepRun {
    /// What a client is shown of the journey as it is now.
    mutating func view() throws(JourneyRefusal) -> JourneyView {
        var events: [EventView] = []
        var canGoBack = false
        var isRestless = false
        if journey.isActive {
            let reactions = try reactions()
            events.reserveCapacity(reactions.count)
            for reaction in reactions {
                let obstacles = try obstacles(to: reaction)
                events.append(EventView(name: reaction.rule.event, enabled: obstacles.isEmpty, why: obstacles))
            }
            canGoBack = try self.canGoBack()
            isRestless = self.isRestless()
        }
        let screen = try screenView()
        return JourneyView(
            id: journey.id, flow: journey.flow, version: journey.version, status: journey.status, step: journey.step,
            screen: screen, events: events, canGoBack: canGoBack, stack: stack(), coordinators: tree(),
            outcome: journey.outcome, output: journey.output, startedAt: journey.startedAt,
            expiresAt: journey.expiresAt, isRestless: isRestless)
    }

    /// Whether what is shown may be another at any moment.
    mutating func isRestless() -> Bool {
        for place in journey.coordinators.indices {
            if let flow = try? flow(of: journey.coordinators[place].id), !flow.looksAtTime { continue }
            return true
        }
        return false
    }

    private mutating func screenView() throws(JourneyRefusal) -> ScreenView? {
        guard let top = journey.frames.last else { return nil }
        let screen = try screen(of: top).screen
        return ScreenView(
            id: top.state, name: screen.name, title: screen.title, presentation: top.presentation,
            data: screen.data.compactMap { name in services.document(of: name).map { (service: name, document: $0) } })
    }

    private func stack() -> [FrameView] {
        var last: (id: Int, flow: String) = (-1, "")
        return journey.frames.map { frame in
            if frame.coordinator != last.id {
                last = (frame.coordinator, journey.coordinator(frame.coordinator)?.flow ?? "")
            }
            return FrameView(flow: last.flow, screen: frame.state, presentation: frame.presentation)
        }
    }

    func tree() -> CoordinatorView? {
        if journey.coordinators.count == 1, let top = journey.frames.last {
            // Nearly always: the journey's own flow is all there is.
            return CoordinatorView(flow: journey.coordinators[0].flow, state: top.state, children: [])
        }
        // The highest frame of each coordinator or its children, and the state that it is in for it.
        var highest = [Int](repeating: -1, count: journey.coordinators.count)
        var states = [String](repeating: "", count: journey.coordinators.count)
        var children = [[CoordinatorView]](repeating: [], count: journey.coordinators.count)
        for (place, coordinator) in journey.coordinators.enumerated() {
            guard let own = journey.frames.lastIndex(where: { $0.coordinator == coordinator.id }) else { continue }
            highest[place] = own
            states[place] = journey.frames[own].state
        }
        for place in journey.coordinators.indices.reversed() {
            let coordinator = journey.coordinators[place]
            let view = CoordinatorView(
                flow: coordinator.flow, state: states[place], children: children[place].reversed())
            guard let parent = journey.coordinators.firstIndex(where: { $0.id == coordinator.parent }) else {
                return view
            }
            children[parent].append(view)
            if highest[place] > highest[parent] {
                highest[parent] = highest[place]
                states[parent] = coordinator.startedBy ?? ""
            }
        }
        return nil
    }
}
