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
        writer.add(#""id":"#, id)
        writer.add(#","flow":"#, flow)
        writer.add(#","version":"#, version)
        writer.add(#","status":"#, status.rawValue)
        writer.add(#","step":"#, step)
        if let screen { screen.write(to: &writer) } else { writer.add(#","screen":null"#) }
        writer.add(#","events":["#)
        for place in events.indices { events[place].write(to: &writer, isFirst: place == 0) }
        writer.add(canGoBack ? #"],"can_go_back":true,"stack":["# : #"],"can_go_back":false,"stack":["#)
        for place in stack.indices { stack[place].write(to: &writer, isFirst: place == 0) }
        writer.add("]")
        if let coordinators {
            writer.add(#","coordinators":"#)
            coordinators.write(to: &writer, isFirst: true)
        } else {
            writer.add(#","coordinators":null"#)
        }
        Self.writeEnd(
            outcome: outcome, output: output, startedAt: startedAt, expiresAt: expiresAt, to: &writer)
        more(&writer)
        writer.endObject()
    }

    static func writeEnd(
        outcome: String?, output: JSONDocument?, startedAt: Int64, expiresAt: Int64?, to writer: inout JSONWriter
    ) {
        writer.add(#","outcome":"#, outcome)
        if let output { writer.add(#","output":"#, output) } else { writer.add(#","output":null"#) }
        writer.add(#","started_at":"#, Timestamp(millisecondsSince1970: startedAt))
        if let expiresAt {
            writer.add(#","expires_at":"#, Timestamp(millisecondsSince1970: expiresAt))
        } else {
            writer.add(#","expires_at":null"#)
        }
    }
}

extension ScreenView {
    fileprivate func write(to writer: inout JSONWriter) {
        writeHead(to: &writer)
        for place in data.indices {
            writer.add(place == 0 ? "" : ",", data[place].service)
            writer.add(":", data[place].document)
        }
        writer.add("}}")
    }

    /// As far as the data.
    func writeHead(to writer: inout JSONWriter) {
        writer.add(#","screen":{"id":"#, id)
        writer.add(#","name":"#, name)
        writer.add(#","title":"#, title)
        writer.add(#","presentation":"#)
        writer.add(presentation.quoted)
        writer.add(#","data":{"#)
    }
}

extension EventView {
    func write(to writer: inout JSONWriter, isFirst: Bool) {
        writer.add(isFirst ? #"{"name":"# : #",{"name":"#, name)
        if why.isEmpty { return writer.add(enabled ? #","enabled":true}"# : #","enabled":false}"#) }
        writer.add(enabled ? #","enabled":true,"why":["# : #","enabled":false,"why":["#)
        for place in why.indices {
            writer.add(place == 0 ? #"{"pointer":"# : #",{"pointer":"#, why[place].pointer)
            writer.add(#","detail":"#, why[place].detail)
            writer.add("}")
        }
        writer.add("]}")
    }
}

extension FrameView {
    func write(to writer: inout JSONWriter, isFirst: Bool) {
        writer.add(isFirst ? #"{"flow":"# : #",{"flow":"#, flow)
        writer.add(#","screen":"#, screen)
        writer.add(#","presentation":"#)
        writer.add(presentation.quoted)
        writer.add("}")
    }
}

extension CoordinatorView {
    func write(to writer: inout JSONWriter, isFirst: Bool) {
        writer.add(isFirst ? #"{"flow":"# : #",{"flow":"#, flow)
        writer.add(#","state":"#, state)
        writer.add(#","children":["#)
        for place in children.indices { children[place].write(to: &writer, isFirst: place == 0) }
        writer.add("]}")
    }
}

extension Frame.Presentation {
    /// As it is written, with its quotation marks.
    var quoted: StaticString {
        switch self {
        case .root: #""root""#
        case .push: #""push""#
        case .modal: #""modal""#
        }
    }
}
