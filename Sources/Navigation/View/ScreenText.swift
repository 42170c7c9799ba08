import JSONDocument

/// What is the same in every view of a screen, written once when its flow is loaded: the texts that ``JourneyView``
/// writes, up to where something begins that is known only then.
final class ScreenText: Sendable {
    /// Of the screen that is looked at, as far as its data, when it was pushed, and when it is the first.
    private let pushedScreen: [UInt8]
    private let rootScreen: [UInt8]
    /// Of a frame on the stack, in the same two.
    private let pushedFrame: [UInt8]
    private let rootFrame: [UInt8]
    /// Of the coordinators, where the flow's own is the only one.
    let coordinator: [UInt8]

    init(_ screen: Screen, id: String, flow: String) {
        func view(_ presentation: Frame.Presentation) -> ScreenView {
            ScreenView(id: id, name: screen.name, title: screen.title, presentation: presentation, data: [])
        }
        func frame(_ presentation: Frame.Presentation) -> FrameView {
            FrameView(flow: flow, screen: id, presentation: presentation)
        }
        pushedScreen = Self.text { view(.push).writeHead(to: &$0) }
        rootScreen = Self.text { view(.root).writeHead(to: &$0) }
        pushedFrame = Self.text { frame(.push).write(to: &$0, isFirst: false) }
        rootFrame = Self.text { frame(.root).write(to: &$0, isFirst: true) }
        coordinator = Self.text { json in
            json.add(#","coordinators":{"flow":"#, flow)
            json.add(#","state":"#, id)
            json.add(#","children":[]}"#)
        }
    }

    /// Nil for what has to be written.
    func screen(_ presentation: Frame.Presentation) -> [UInt8]? {
        switch presentation {
        case .push: pushedScreen
        case .root: rootScreen
        case .modal: nil
        }
    }

    /// The same of a frame: the first on the stack is the root, and a comma is before the others.
    func frame(_ presentation: Frame.Presentation, isFirst: Bool) -> [UInt8]? {
        switch presentation {
        case .push: isFirst ? nil : pushedFrame
        case .root: isFirst ? rootFrame : nil
        case .modal: nil
        }
    }

    /// The name of a member, with its colon.
    static func member(_ name: String) -> [UInt8] {
        text { json in
            json.add("", name)
            json.add(":")
        }
    }

    /// Events that would do something.
    static func enabled(_ events: [String]) -> [UInt8] {
        text { json in
            for place in events.indices {
                EventView(name: events[place], enabled: true, why: []).write(to: &json, isFirst: place == 0)
            }
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
