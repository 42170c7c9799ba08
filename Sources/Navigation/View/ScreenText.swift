import JSONDocument

/// The parts of a journey's view that are the same each time, written once when the flow is loaded. The view of a
/// journey is written at each of its steps, and nearly all of its bytes are in these parts.
final class ScreenText: Sendable {
    /// The member `screen` up to its presentation, and from there to its data. Up to its title, if that holds values.
    let head: [UInt8]
    /// The title, if it holds values.
    let title: TextTemplate?
    /// The title in its languages, unless it holds values.
    let texts: [PlacedText]
    let data: StaticString
    /// An element of `stack` up to its presentation.
    let frame: [UInt8]
    /// The names of the services in `data`, as JSON with a colon.
    let dataNames: [[UInt8]]
    /// The elements of `events`, when all events are possible.
    let events: [UInt8]
    let eventCount: Int
    /// The labels in them in their languages.
    let eventTexts: [PlacedText]

    /// - Parameters:
    ///   - events: of the screen and its flow.
    ///   - isBusy: whether it is the screen of a task.
    init(
        _ screen: Screen, id: String, flow: String, events: [(name: String, label: TextTemplate?)], isBusy: Bool
    ) {
        let plainTitle = screen.title?.plain
        title = plainTitle == nil ? screen.title : nil
        texts = plainTitle.map { [PlacedText](of: $0, at: Self.titlePlace) } ?? []
        eventCount = events.count
        eventTexts = events.enumerated().flatMap { place, event in
            event.label?.plain.map { [PlacedText](of: $0, at: Self.labelPlace(ofEvent: place)) } ?? []
        }
        head = Self.text { json in
            json.add(#","screen":{"id":"#, id)
            json.add(#","name":"#, screen.name)
            if plainTitle == nil, screen.title != nil { return json.add(Self.titleName) }
            json.add(Self.titleName, plainTitle?.text)
            json.add(Self.presentationName)
        }
        data = isBusy ? #","status":"busy","data":{"# : #","data":{"#
        frame = Self.frame(flow: flow, screen: id)
        dataNames = screen.data.map { name in
            Self.text { json in
                json.add("", name)
                json.add(":")
            }
        }
        self.events = Self.text { json in
            for (place, event) in events.enumerated() {
                json.add(event: event.name, label: event.label?.plain?.text, why: [], isFirst: place == 0)
            }
        }
    }

    static let titlePlace = "/screen/title"

    static func labelPlace(ofEvent place: Int) -> String { "/events/\(place)/label" }

    private static let titleName: StaticString = #","title":"#
    static let presentationName: StaticString = #","presentation":"#

    static func frame(flow: String, screen: String) -> [UInt8] {
        text { json in
            json.add(#"{"flow":"#, flow)
            json.add(#","screen":"#, screen)
            json.add(presentationName)
        }
    }

    private static func text(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 96)
        write(&json)
        // A copy without the unused capacity, because the text stays in memory.
        return json.bytes.withUnsafeBufferPointer { Array($0) }
    }
}

extension JSONWriter {
    /// Writes an element of `events`.
    ///
    /// - Parameter why: the obstacles; without any the event is enabled.
    mutating func add(event name: String, label: String?, why: [JSONViolation], isFirst: Bool) {
        add(isFirst ? #"{"name":"# : #",{"name":"#, name)
        if let label { add(#","label":"#, label) }
        if why.isEmpty { return add(#","enabled":true}"#) }
        add(#","enabled":false,"why":["#)
        for place in why.indices {
            add(place == 0 ? #"{"pointer":"# : #",{"pointer":"#, why[place].pointer)
            add(#","detail":"#, why[place].detail)
            add("}")
        }
        add("]}")
    }
}
