import JSONDocument
import Navigation
import Sessions

extension JSONWriter {
    /// A journey as clients see it: API, section 5.
    ///
    /// - Parameter more: writes further members behind it.
    mutating func journey(_ shown: ShownJourney, more: (inout JSONWriter) -> Void = { _ in }) {
        let journey = shown.view
        beginObject()
        name("id")
        string(journey.id)
        name("flow")
        string(journey.flow)
        name("version")
        int(journey.version)
        name("status")
        string(journey.status.rawValue)
        name("step")
        uint(journey.step)
        name("screen")
        if let screen = journey.screen { self.screen(screen) } else { null() }
        name("events")
        beginArray()
        for event in journey.events { self.event(event) }
        endArray()
        name("can_go_back")
        bool(journey.canGoBack)
        name("stack")
        beginArray()
        for frame in journey.stack { self.frame(frame) }
        endArray()
        name("coordinators")
        if let coordinator = journey.coordinators { self.coordinator(coordinator) } else { null() }
        name("outcome")
        if let outcome = journey.outcome { string(outcome) } else { null() }
        name("output")
        if let output = journey.output { document(output) } else { null() }
        name("started_at")
        time(Timestamp(millisecondsSince1970: journey.startedAt))
        name("expires_at")
        if let expiresAt = journey.expiresAt { time(Timestamp(millisecondsSince1970: expiresAt)) } else { null() }
        more(&self)
        endObject()
    }

    private mutating func screen(_ screen: ScreenView) {
        beginObject()
        name("id")
        string(screen.id)
        name("name")
        string(screen.name)
        name("title")
        if let title = screen.title { string(title) } else { null() }
        name("presentation")
        string(screen.presentation.rawValue)
        name("data")
        beginObject()
        for (service, document) in screen.data {
            name(service)
            self.document(document)
        }
        endObject()
        endObject()
    }

    private mutating func event(_ event: EventView) {
        beginObject()
        name("name")
        string(event.name)
        name("enabled")
        bool(event.enabled)
        if !event.why.isEmpty {
            name("why")
            beginArray()
            for place in event.why {
                beginObject()
                name("pointer")
                string(place.pointer)
                name("detail")
                string(place.detail)
                endObject()
            }
            endArray()
        }
        endObject()
    }

    private mutating func frame(_ frame: FrameView) {
        beginObject()
        name("flow")
        string(frame.flow)
        name("screen")
        string(frame.screen)
        name("presentation")
        string(frame.presentation.rawValue)
        endObject()
    }

    private mutating func coordinator(_ coordinator: CoordinatorView) {
        beginObject()
        name("flow")
        string(coordinator.flow)
        name("state")
        string(coordinator.state)
        name("children")
        beginArray()
        for child in coordinator.children { self.coordinator(child) }
        endArray()
        endObject()
    }
}
