import JSONDocument

extension FlowEngine {
    /// The view of a journey.
    ///
    /// - Parameter memory: of the ``Step`` that made the journey, while the documents of the services are the same:
    ///   then no guard is tested again.
    /// - Throws: ``JourneyRefusal/orphaned(flow:version:)`` when the journey's version is not loaded,
    ///   ``JourneyRefusal/due`` when the journey may not stay on its screen.
    public func view(
        _ journey: Journey, services: any ServiceDocuments, now: Int64, knowing memory: GuardMemory = GuardMemory()
    ) throws(JourneyRefusal) -> JourneyView {
        let text = try textAndMemory(journey, services: services, now: now, knowing: memory, timesMovedBy: 0).text
        return JourneyView(json: text.bytes)
    }

    /// The text of the view, and the verdicts of guards that it needed.
    ///
    /// - Parameters:
    ///   - shift: is added to the times in the view; milliseconds.
    ///   - isSettled: whether the journey is shown where it stands, even if it may not stay there.
    package func textAndMemory(
        _ journey: Journey, services: any ServiceDocuments, now: Int64, knowing memory: GuardMemory,
        timesMovedBy shift: Int64, isSettled: Bool = false
    ) throws(JourneyRefusal) -> (text: ViewText, memory: GuardMemory) {
        var run = StepRun(self, journey, services, now: now, event: .unknown, knowing: memory)
        if !isSettled {
            if try run.hasToMove() { throw .due }
            if try run.isMisdated() { throw .due }
        }
        let text = try run.view(timesMovedBy: shift)
        return (text, run.services.memory)
    }

    /// The schema that the data of each event must have, for the events that the view of a journey lists. An event that
    /// takes any data has an empty one.
    ///
    /// - Parameter work: how much work choices may make. Those beyond it are left out.
    package func eventSchemas(
        of journey: Journey, services: any ServiceDocuments, now: Int64, work: Int = EventSchemas.mostWork
    ) throws(JourneyRefusal) -> EventSchemas {
        var schemas = EventSchemas(work: work)
        guard journey.isActive, let top = journey.frames.last else { return schemas }
        var run = StepRun(self, journey, services, now: now, event: .unknown)
        run.services.work.rest = work
        var choices: [String: [Choice]] = [:]
        for reaction in try run.reactions() where schemas[reaction.rule.event] == nil {
            guard let shape = reaction.shape else {
                schemas[reaction.rule.event] = .ofAnything
                continue
            }
            let scope = try run.scope(of: reaction.shapeOf)
            schemas[reaction.rule.event] = scope.form(shape, of: reaction.shapeOf, &choices)
        }
        let screen = try run.screen(of: top)
        if screen.listsBack {
            let scope = try run.scope(of: top.coordinator)
            schemas[EventRule.back] =
                screen.screen.accepts[EventRule.back].map { scope.form($0, of: top.coordinator, &choices) }
                ?? .ofAnything
        }
        schemas.work = max(0, run.services.work.left)
        return schemas
    }

    /// The rules for all events on the screen of a journey, possible or not, and whether going back is.
    ///
    /// - Parameter isFromBackend: whether those of back ends are included.
    package func reactions(
        of journey: Journey, isFromBackend: Bool = false, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> (rules: [Reaction], canGoBack: Bool, shapeOfBack: ShapeRule?) {
        guard journey.isActive, let top = journey.frames.last else { return ([], false, nil) }
        var run = StepRun(
            self, journey, services, now: now, event: .unknown, of: isFromBackend ? .backend : .client)
        let shape = try run.screen(of: top).screen.accepts[EventRule.back]
        return (try run.reactions(), try run.canGoBack(), shape)
    }

    /// The view of a journey that cannot go on. It needs no flow.
    package func textOfStuck(_ journey: Journey, timesMovedBy shift: Int64) -> ViewText {
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        StepRun.writeHead(of: journey, status: "stuck", to: &json)
        json.add(StepRun.noScreen)
        StepRun.writeEnd(of: journey, dueAt: nil, timesMovedBy: shift, to: &json)
        json.endObject()
        var tag = ViewTag(journey.step)
        tag.mix("stuck")
        var texts: [PlacedText] = []
        tag.mix(journey.message, &texts)
        return ViewText(bytes: json.bytes, isRestless: true, tag: tag.value, texts: texts)
    }
}

/// The schema that the data of an event must have, with what people are shown.
package struct EventForm: Sendable {
    /// With its texts in their first language.
    package let schema: JSONDocument
    /// Those that are written in several languages.
    let texts: [PlacedText]

    fileprivate static let ofAnything = EventForm(schema: .emptyObject, texts: [])

    /// - Parameter language: nil for the first one of each text.
    package func schema(in language: String?) -> JSONDocument {
        let changes = language.map(texts.changes) ?? []
        if changes.isEmpty { return schema }
        return (try? schema.applying(JSONDocument(changes))) ?? schema
    }
}

/// The schemas of events by their names.
package struct EventSchemas: Sendable {
    private var forms: [String: EventForm] = [:]
    /// How much work choices may still make, in other journeys of one response.
    package fileprivate(set) var work: Int

    /// What the choices of one response may make. Some 10 ms on a slow machine.
    package static let mostWork = 2 * ListWork.most

    package init(work: Int = EventSchemas.mostWork) { self.work = work }

    package var isEmpty: Bool { forms.isEmpty }

    package fileprivate(set) subscript(event: String) -> EventForm? {
        get { forms[event] }
        set { forms[event] = newValue }
    }
}

/// The view of a journey as JSON text.
package struct ViewText: Sendable {
    package let bytes: [UInt8]
    /// Whether the view may change at any moment, because a guard compares with the time.
    package let isRestless: Bool
    /// Changes with everything that the view shows: the step, the flow, the documents, and what can be done.
    package let tag: UInt64
    /// The texts in it that are written in several languages.
    package let texts: [PlacedText]

    fileprivate static let messagePlace = "/message"
}

/// Mixes numbers to one that is the same in every process.
package struct ViewTag {
    private(set) var value: UInt64

    /// One that is another one as soon as the document says anything else. Never 0.
    ///
    /// - Parameter more: what the document does not say.
    package static func of(_ document: JSONDocument, then more: [String] = []) -> UInt64 {
        var tag = ViewTag(0)
        tag.mix("\(document)")
        for text in more { tag.mix(text) }
        return max(tag.value, 1)
    }

    init(_ step: UInt64) {
        value = step
        mix(0)
    }

    mutating func mix(_ number: UInt64) {
        // The finalizer of SplitMix64, which spreads each bit over all.
        value = (value ^ number) &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        value ^= value >> 31
    }

    /// Each language may show other values.
    mutating func mix(_ said: SaidText) {
        mix(said.text)
        for (_, text) in said.translations.sorted(by: { $0.key < $1.key }) { mix(text) }
    }

    mutating func mix(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            let (raw, words) = (UnsafeRawBufferPointer(bytes), bytes.count / 8)
            for place in 0..<words {
                let word = raw.loadUnaligned(fromByteOffset: 8 * place, as: UInt64.self)
                mix(UInt64(littleEndian: word))
            }
            mix(bytes[(8 * words)...].reduce(0) { $0 << 8 | UInt64($1) })
            mix(UInt64(bytes.count))
        }
    }

    /// A message may go without a step.
    fileprivate mutating func mix(_ message: SaidText?, _ texts: inout [PlacedText]) {
        guard let message else { return }
        mix(message)
        texts.add(message, at: ViewText.messagePlace)
    }
}

/// Writes the view of a journey. Nothing else does: ``JourneyView`` reads this text.
extension StepRun {
    /// - Parameter shift: is added to the times; milliseconds.
    mutating func view(timesMovedBy shift: Int64) throws(JourneyRefusal) -> ViewText {
        // What a step shows is what a later look shows, whatever the step itself has cost.
        services.work = ListWork()
        var json = JSONWriter(reservingCapacity: 1_024)
        var tag = ViewTag(journey.step)
        var texts: [PlacedText] = []
        if let dueAt = journey.dueAt { tag.mix(UInt64(bitPattern: dueAt)) }
        json.beginObject()
        Self.writeHead(of: journey, status: journey.status.rawValue, to: &json)
        if journey.isActive, let top = journey.frames.last {
            let screen = try screen(of: top)
            // An entity tag does not outlast an edit of a file.
            for coordinator in journey.coordinators {
                let flow = try flow(of: coordinator.id)
                tag.mix(flow.tag)
                if !flow.formServices.isEmpty { mix(flow.formServices, seenBy: coordinator.id, &tag) }
            }
            json.add(screen.text.head)
            texts = screen.text.texts
            if let title = screen.text.title {
                json.add("", try say(title, of: top.coordinator, at: ScreenText.titlePlace, &texts, &tag))
                json.add(ScreenText.presentationName)
            }
            json.add("", top.presentation.rawValue)
            json.add(screen.text.data)
            let owners = owners(of: top.coordinator)
            if !screen.formServices.isEmpty { mix(screen.formServices, seenBy: top.coordinator, &tag) }
            writeData(of: screen, seenBy: owners, to: &json, &tag)
            if let params = top.params { json.add(#"},"params":"#, params) }
            json.add(top.params == nil ? #"}},"events":["# : #"},"events":["#)
            let canGoBack = try canGoBack()
            try writeEvents(of: screen, seenBy: owners, withBack: canGoBack, to: &json, &texts, &tag)
            if canGoBack { tag.mix(1) }
            json.add(canGoBack ? #"],"can_go_back":true,"stack":["# : #"],"can_go_back":false,"stack":["#)
            writeStack(to: &json)
            json.add(#"],"coordinators":"#)
            writeCoordinators(to: &json)
        } else {
            json.add(Self.noScreen)
        }
        Self.writeEnd(of: journey, dueAt: journey.dueAt, timesMovedBy: shift, to: &json)
        json.endObject()
        tag.mix(journey.message, &texts)
        return ViewText(bytes: json.bytes, isRestless: isRestless(), tag: max(tag.value, 1), texts: texts)
    }

    /// An author's text with its values.
    private mutating func say(
        _ text: TextTemplate, of coordinator: Int, at place: @autoclosure () -> String, _ texts: inout [PlacedText],
        _ tag: inout ViewTag
    ) throws(JourneyRefusal) -> String {
        if let plain = text.plain {
            // The tag of the flow covers it.
            texts.add(plain, at: place())
            return plain.text
        }
        let said = try scope(of: coordinator).said(text)
        texts.add(said, at: place())
        tag.mix(said)
        return said.text
    }

    /// The forms of a screen show parts of these services, whether they are asked for or not.
    private mutating func mix(_ shown: [String], seenBy coordinator: Int, _ tag: inout ViewTag) {
        let owners = owners(of: coordinator)
        for service in shown { tag.mix(services.version(of: service, owner: owners.owner(of: service))) }
    }

    fileprivate static let noScreen: StaticString =
        #","screen":null,"events":[],"can_go_back":false,"stack":[],"coordinators":null"#

    fileprivate static func writeHead(of journey: Journey, status: String, to json: inout JSONWriter) {
        json.add(#""id":"#, journey.id)
        json.add(#","flow":"#, journey.flow)
        json.add(#","version":"#, journey.version)
        json.add(#","status":"#, status)
        json.add(#","step":"#, journey.step)
    }

    fileprivate static func writeEnd(
        of journey: Journey, dueAt: Int64?, timesMovedBy shift: Int64, to json: inout JSONWriter
    ) {
        json.add(#","outcome":"#, journey.outcome)
        if let output = journey.output { json.add(#","output":"#, output) } else { json.add(#","output":null"#) }
        json.add(#","started_at":"#, Timestamp(millisecondsSince1970: journey.startedAt &+ shift))
        if let expiresAt = journey.expiresAt {
            json.add(#","expires_at":"#, Timestamp(millisecondsSince1970: expiresAt &+ shift))
        } else {
            json.add(#","expires_at":null"#)
        }
        if let dueAt {
            json.add(#","due_at":"#, Timestamp(millisecondsSince1970: dueAt &+ shift))
        } else {
            json.add(#","due_at":null"#)
        }
        json.add(#","message":"#, journey.message?.text)
    }

    private mutating func isRestless() -> Bool {
        for place in journey.coordinators.indices {
            if let flow = try? flow(of: journey.coordinators[place].id), !flow.looksAtTime { continue }
            return true
        }
        return false
    }

    private func writeData(
        of screen: PreparedScreen, seenBy owners: ServiceOwners, to json: inout JSONWriter, _ tag: inout ViewTag
    ) {
        var isFirst = true
        for (place, service) in screen.screen.data.enumerated() {
            let owner = owners.owner(of: service)
            let text = services.text(of: service, owner: owner)
            guard let document = text == nil ? services.document(of: service, owner: owner) : .null else { continue }
            tag.mix(services.version(of: service, owner: owner))
            if !isFirst { json.add(",") }
            isFirst = false
            json.add(screen.text.dataNames[place])
            if let text { json.add(text) } else { json.add("", document) }
        }
    }

    private mutating func writeEvents(
        of screen: PreparedScreen, seenBy owners: ServiceOwners, withBack canGoBack: Bool, to json: inout JSONWriter,
        _ texts: inout [PlacedText], _ tag: inout ViewTag
    ) throws(JourneyRefusal) {
        let back = canGoBack && screen.listsBack
        if journey.coordinators.count == 1, let shapes = screen.eventShapes, services.fit(shapes, seenBy: owners) {
            json.add(screen.text.events)
            if !screen.text.eventTexts.isEmpty { texts += screen.text.eventTexts }
            if back { try writeBack(of: screen, after: screen.text.eventCount, to: &json, &texts, &tag) }
            return
        }
        let reactions = try reactions()
        let isLabelled = screen.hasLabels || journey.coordinators.count > 1
        for place in reactions.indices {
            let reaction = reactions[place]
            let obstacles = try shownObstacles(to: reaction)
            for (number, obstacle) in obstacles.enumerated() {
                let said = SaidText(text: obstacle.detail, translations: obstacle.translations)
                tag.mix(UInt64(place))
                tag.mix(obstacle.pointer)
                tag.mix(said)
                texts.add(said, at: "/events/\(place)/why/\(number)/detail")
            }
            let label = isLabelled ? try label(of: reaction, at: place, on: screen.screen, &texts, &tag) : nil
            json.add(event: reaction.rule.event, label: label, why: obstacles, isFirst: place == 0)
        }
        if back { try writeBack(of: screen, after: reactions.count, to: &json, &texts, &tag) }
    }

    /// Each event has a budget of its own, as when it is sent. Where the budgets of all are used up, an event is shown
    /// as possible: its step decides.
    private mutating func shownObstacles(to reaction: Reaction) throws(JourneyRefusal) -> [JSONViolation] {
        services.overwork = nil
        let obstacles = try services.apart { () throws(JourneyRefusal) in try self.obstacles(to: reaction) }
        return services.overwork?.isShort == true ? [] : obstacles
    }

    private mutating func writeBack(
        of screen: PreparedScreen, after count: Int, to json: inout JSONWriter, _ texts: inout [PlacedText],
        _ tag: inout ViewTag
    ) throws(JourneyRefusal) {
        var label: String?
        if let text = screen.backLabel, let top = journey.frames.last {
            label = try say(
                text, of: top.coordinator, at: ScreenText.labelPlace(ofEvent: count), &texts, &tag)
        }
        json.add(event: EventRule.back, label: label, why: [], isFirst: count == 0)
    }

    /// What people call an event: on the screen, else in the flow that has its rule.
    private mutating func label(
        of reaction: Reaction, at place: Int, on screen: Screen, _ texts: inout [PlacedText], _ tag: inout ViewTag
    ) throws(JourneyRefusal) -> String? {
        let event = reaction.rule.event
        let path = { ScreenText.labelPlace(ofEvent: place) }
        if let text = screen.labels[event], let top = journey.frames.last {
            return try say(text, of: top.coordinator, at: path(), &texts, &tag)
        }
        guard let text = try flow(of: reaction.coordinator).labels[event] else { return nil }
        return try say(text, of: reaction.coordinator, at: path(), &texts, &tag)
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
            if place > 0 { json.add(",") }
            if let text = flow?.screen(of: frame)?.text {
                json.add(text.frame)
            } else {
                // The screen is not in the file any more.
                let flow = journey.coordinator(frame.coordinator)?.flow ?? ""
                json.add(ScreenText.frame(flow: flow, screen: frame.state))
            }
            json.add("", frame.presentation.rawValue)
            json.add("}")
        }
    }

    /// Writes the tree of coordinators, each with the state of its highest frame; where that is a child's frame, the
    /// state that started the child.
    private func writeCoordinators(to json: inout JSONWriter) {
        if journey.coordinators.count == 1, let top = journey.frames.last {
            // The usual case: the journey's own flow is the only one.
            json.add(#"{"flow":"#, journey.flow)
            json.add(#","state":"#, top.state)
            return json.add(#","children":[]}"#)
        }
        var highest: [(frame: Int, state: String)] = journey.coordinators.map { coordinator in
            let own = journey.frames.lastIndex { $0.coordinator == coordinator.id }
            return (own ?? -1, own.map { journey.frames[$0].state } ?? "")
        }
        for place in journey.coordinators.indices.dropFirst().reversed() {
            let child = journey.coordinators[place]
            guard let parent = child.parent.flatMap({ journey.coordinators.place(of: $0) }) else { continue }
            if highest[place].frame > highest[parent].frame {
                highest[parent] = (highest[place].frame, child.startedBy ?? "")
            }
        }
        func write(_ place: Int, isFirst: Bool) {
            json.add(isFirst ? #"{"flow":"# : #",{"flow":"#, journey.coordinators[place].flow)
            json.add(#","state":"#, highest[place].state)
            json.add(#","children":["#)
            let id = journey.coordinators[place].id
            let children = journey.coordinators.indices.filter { journey.coordinators[$0].parent == id }
            for child in children { write(child, isFirst: child == children[0]) }
            json.add("]}")
        }
        write(0, isFirst: true)
    }
}
