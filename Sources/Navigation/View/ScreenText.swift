import JSONDocument

/// What is the same in every view of a screen, written once when its flow is loaded: the texts that ``JourneyView``
/// writes, up to where something begins that is known only then.
struct ScreenText: Sendable {
    /// Of the screen that is looked at, as far as its presentation.
    let screen: [UInt8]
    /// Of a frame on the stack, as far as its presentation.
    let frame: [UInt8]
    /// Of the coordinators, where the flow's own is the only one.
    let coordinator: [UInt8]

    init(_ screen: Screen, id: String, flow: String) {
        self.screen = Self.text { json in
            json.add(#","screen":{"id":"#, id)
            json.add(#","name":"#, screen.name)
            json.add(#","title":"#, screen.title)
            json.add(#","presentation":"#)
        }
        frame = Self.text { json in
            json.add(#"{"flow":"#, flow)
            json.add(#","screen":"#, id)
            json.add(#","presentation":"#)
        }
        coordinator = Self.text { json in
            json.add(#","coordinators":{"flow":"#, flow)
            json.add(#","state":"#, id)
            json.add(#","children":[]}"#)
        }
    }

    /// An event that would do something.
    static func enabled(_ event: String) -> [UInt8] {
        text { json in
            json.add(#"{"name":"#, event)
            json.add(#","enabled":true}"#)
        }
    }

    /// The head of a running journey's view behind its id, as far as its step.
    static func head(_ flow: String, _ version: Int) -> [UInt8] {
        text { json in
            json.add(#","flow":"#, flow)
            json.add(#","version":"#, version)
            json.add(#","status":"active","step":"#)
        }
    }

    private static func text(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 96)
        write(&json)
        // Without the room that is left: these stay.
        return json.bytes.withUnsafeBufferPointer { Array($0) }
    }
}
