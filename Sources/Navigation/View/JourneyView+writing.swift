import JSONDocument

extension JourneyView {
    /// The view as JSON text, as clients get it.
    public var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 1_024)
        write(to: &writer)
        return writer.bytes
    }

    /// - Parameter more: writes further members behind its own.
    package func write(to writer: inout JSONWriter, more: (inout JSONWriter) -> Void = { _ in }) {
        writer.beginObject()
        writer.name("id")
        writer.string(id)
        writer.name("flow")
        writer.string(flow)
        writer.name("version")
        writer.int(version)
        writer.name("status")
        writer.string(status.rawValue)
        writer.name("step")
        writer.uint(step)
        writer.name("screen")
        if let screen { screen.write(to: &writer) } else { writer.null() }
        writer.name("events")
        writer.beginArray()
        for event in events { event.write(to: &writer) }
        writer.endArray()
        writer.name("can_go_back")
        writer.bool(canGoBack)
        writer.name("stack")
        writer.beginArray()
        for frame in stack { frame.write(to: &writer) }
        writer.endArray()
        writer.name("coordinators")
        if let coordinators { coordinators.write(to: &writer) } else { writer.null() }
        writer.name("outcome")
        if let outcome { writer.string(outcome) } else { writer.null() }
        writer.name("output")
        if let output { writer.document(output) } else { writer.null() }
        writer.name("started_at")
        writer.string(Timestamp(millisecondsSince1970: startedAt).description)
        writer.name("expires_at")
        if let expiresAt {
            writer.string(Timestamp(millisecondsSince1970: expiresAt).description)
        } else {
            writer.null()
        }
        more(&writer)
        writer.endObject()
    }
}

extension ScreenView {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("id")
        writer.string(id)
        writer.name("name")
        writer.string(name)
        writer.name("title")
        if let title { writer.string(title) } else { writer.null() }
        writer.name("presentation")
        writer.string(presentation.rawValue)
        writer.name("data")
        writer.beginObject()
        for entry in data {
            writer.name(entry.service)
            writer.document(entry.document)
        }
        writer.endObject()
        writer.endObject()
    }
}

extension EventView {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("name")
        writer.string(name)
        writer.name("enabled")
        writer.bool(enabled)
        if !why.isEmpty {
            writer.name("why")
            writer.beginArray()
            for reason in why {
                writer.beginObject()
                writer.name("pointer")
                writer.string(reason.pointer)
                writer.name("detail")
                writer.string(reason.detail)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension FrameView {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("flow")
        writer.string(flow)
        writer.name("screen")
        writer.string(screen)
        writer.name("presentation")
        writer.string(presentation.rawValue)
        writer.endObject()
    }
}

extension CoordinatorView {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("flow")
        writer.string(flow)
        writer.name("state")
        writer.string(state)
        writer.name("children")
        writer.beginArray()
        for child in children { child.write(to: &writer) }
        writer.endArray()
        writer.endObject()
    }
}
