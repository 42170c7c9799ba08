import JSONDocument

/// What is shown of a journey as text, and how long.
package struct ViewText: Sendable {
    package let bytes: [UInt8]
    /// See ``JourneyView/isRestless``.
    package let isRestless: Bool

    package init(_ view: JourneyView) {
        self.init(bytes: view.json, isRestless: view.isRestless)
    }

    fileprivate init(bytes: [UInt8], isRestless: Bool) {
        self.bytes = bytes
        self.isRestless = isRestless
    }
}

extension StepRun {
    /// The text of ``view()``, byte for byte, without making one: that is done at each step of each journey, and nearly
    /// all of it is written in the definitions already.
    ///
    /// - Parameter shift: how much later the clock that people read is.
    mutating func text(timesMovedBy shift: Int64) throws(JourneyRefusal) -> ViewText {
        guard journey.isActive, let top = journey.frames.last else { return try viewText(timesMovedBy: shift) }
        let flow = try flow(of: top.coordinator)
        guard let screen = flow.screen(of: top) else { return try viewText(timesMovedBy: shift) }
        var json = JSONWriter(reservingCapacity: 1_024)
        json.beginObject()
        json.add(#""id":"#, journey.id)
        let isAlone = journey.coordinators.count == 1
        json.add(isAlone ? flow.headText : ScreenText.head(journey.flow, journey.version))
        json.add("", journey.step)
        if let text = screen.text.screen(top.presentation) {
            json.add(text)
        } else {
            let (name, title) = (screen.screen.name, screen.screen.title)
            ScreenView(id: top.state, name: name, title: title, presentation: top.presentation, data: [])
                .writeHead(to: &json)
        }
        writeData(of: screen, to: &json)
        if isAlone {
            try writeOffers(of: screen, top.coordinator, to: &json)
        } else {
            try writeEvents(to: &json)
        }
        json.add(
            try canGoBack(from: screen.screen)
                ? #"],"can_go_back":true,"stack":["# : #"],"can_go_back":false,"stack":["#)
        writeStack(to: &json)
        if isAlone {
            json.add("]")
            json.add(screen.text.coordinator)
        } else {
            json.add(#"],"coordinators":"#)
            tree()?.write(to: &json, isFirst: true)
        }
        JourneyView.writeEnd(
            outcome: journey.outcome, output: journey.output, startedAt: journey.startedAt &+ shift,
            expiresAt: journey.expiresAt.map { $0 &+ shift }, to: &json)
        json.endObject()
        return ViewText(bytes: json.bytes, isRestless: isRestless())
    }

    /// What is over, or cannot be shown.
    private mutating func viewText(timesMovedBy shift: Int64) throws(JourneyRefusal) -> ViewText {
        var view = try view()
        view.moveTimes(by: shift)
        return ViewText(view)
    }

    private func writeData(of screen: PreparedScreen, to json: inout JSONWriter) {
        var isFirst = true
        func addName(at place: Int) {
            if !isFirst { json.add(",") }
            isFirst = false
            json.add(screen.dataNames[place])
        }
        for place in screen.dataNames.indices {
            let service = screen.screen.data[place]
            if let text = services.text(of: service) {
                addName(at: place)
                json.add(text)
            } else if let document = services.document(of: service) {
                addName(at: place)
                json.add("", document)
            }
        }
        json.add(#"}},"events":["#)
    }

    /// The events, where the screen's own flow is the only one that runs.
    private mutating func writeOffers(
        of screen: PreparedScreen, _ coordinator: Int, to json: inout JSONWriter
    ) throws(JourneyRefusal) {
        if let needs = screen.needsOfOffers, services.fit(needs) { return json.add(screen.offersText) }
        for place in screen.offers.indices {
            let offer = screen.offers[place]
            let obstacles =
                if let needs = offer.needs, services.fit(needs) {
                    [JSONViolation]()
                } else {
                    try obstacles(to: Reaction(rule: offer.rule, coordinator: coordinator))
                }
            write(offer.rule, obstacles, isFirst: place == 0, to: &json)
        }
    }

    private func write(
        _ rule: EventRule, _ obstacles: [JSONViolation], isFirst: Bool, to json: inout JSONWriter
    ) {
        guard obstacles.isEmpty else {
            return EventView(name: rule.event, enabled: false, why: obstacles).write(to: &json, isFirst: isFirst)
        }
        if !isFirst { json.add(",") }
        json.add(rule.enabledText)
    }

    private mutating func writeEvents(to json: inout JSONWriter) throws(JourneyRefusal) {
        let reactions = try reactions()
        for place in reactions.indices {
            let obstacles = try obstacles(to: reactions[place])
            write(reactions[place].rule, obstacles, isFirst: place == 0, to: &json)
        }
    }

    private mutating func writeStack(to json: inout JSONWriter) {
        var coordinator: Int?
        var flow: FlowDefinition?
        for place in journey.frames.indices {
            let frame = journey.frames[place]
            if frame.coordinator != coordinator {
                coordinator = frame.coordinator
                flow = try? self.flow(of: frame.coordinator)
            }
            if let text = flow?.screen(of: frame)?.text.frame(frame.presentation, isFirst: place == 0) {
                json.add(text)
            } else {
                let flow = journey.coordinator(frame.coordinator)?.flow ?? ""
                FrameView(flow: flow, screen: frame.state, presentation: frame.presentation)
                    .write(to: &json, isFirst: place == 0)
            }
        }
    }
}
