import JSONDocument

/// A journey as a client sees it: the JSON text, and the same as values. Times are milliseconds since 1970.
public struct JourneyView: Sendable, Equatable {
    /// The JSON text that clients get.
    public let json: [UInt8]
    private let document: JSONDocument

    /// Reads the text that the engine wrote.
    package init(json: [UInt8]) {
        self.json = json
        document = (try? JSONDocument(parsing: json)) ?? .null
    }

    /// The id of the journey.
    public var id: String { document.text("id") }
    /// The id of the journey's own flow.
    public var flow: String { document.text("flow") }
    /// The version of the flow.
    public var version: Int { document[member: "version"]?.int ?? 0 }
    /// Whether the journey is running.
    public var status: JourneyStatus { JourneyStatus(rawValue: document.text("status")) ?? .active }
    /// The number of the last step.
    public var step: UInt64 { UInt64(clamping: document[member: "step"]?.int ?? 0) }
    /// The top screen; nil once the journey is over.
    public var screen: ScreenView? { document.present("screen").map { ScreenView(document: $0) } }
    /// The events of the screen, except `back`.
    public var events: [EventView] { document.list("events").map(EventView.init) }
    /// Whether the event `back` is accepted.
    public var canGoBack: Bool { document[member: "can_go_back"]?.bool ?? false }
    /// The frames from the bottom up.
    public var stack: [FrameView] { document.list("stack").map { FrameView(document: $0) } }
    /// The journey's own coordinator; nil once the journey is over.
    public var coordinators: CoordinatorView? { document.present("coordinators").map(CoordinatorView.init) }
    /// The outcome of a finished journey.
    public var outcome: String? { document[member: "outcome"]?.string }
    /// The output of a finished journey; nil when there is none, or it is null.
    public var output: JSONDocument? { document.present("output") }
    /// When the flow started, or started over.
    public var startedAt: Int64 { document.time("started_at") ?? 0 }
    /// When the journey expires unless it moves; nil: never.
    public var expiresAt: Int64? { document.time("expires_at") }
    /// When something happens by itself next; nil: never, as the data is.
    public var dueAt: Int64? { document.time("due_at") }
    /// What the last step tells the person; nil for nothing.
    public var message: String? { document[member: "message"]?.string }
}

/// The screen that the client draws.
public struct ScreenView: Sendable, Equatable {
    fileprivate let document: JSONDocument

    /// The id of the state.
    public var id: String { document.text("id") }
    /// The client's name for the screen.
    public var name: String { document.text("name") }
    /// The title for people.
    public var title: String? { document[member: "title"]?.string }
    /// How the screen came onto the stack.
    public var presentation: Frame.Presentation { document.presentation }
    /// Whether the journey waits for a task, and the client for the journey.
    public var isBusy: Bool { document.text("status") == "busy" }
    /// The documents of the screen's services, sorted by name.
    public var data: [ServiceView] {
        (document[member: "data"]?.members ?? []).map { ServiceView(service: $0.name, document: $0.value) }
    }
    /// The values that the transition gave to the frame; nil when it gave none.
    public var params: JSONDocument? { document[member: "params"] }

    /// The document of one of the screen's services.
    public subscript(service: String) -> JSONDocument? { document[member: "data"]?[member: service] }
}

/// The document of a service that a screen shows.
public struct ServiceView: Sendable, Equatable {
    /// The name of the service.
    public let service: String
    /// Its state.
    public let document: JSONDocument
}

/// An event of the screen, and whether it can be sent now.
public struct EventView: Sendable, Equatable {
    /// The name of the event.
    public let name: String
    /// What people call it; nil when the flow has no word for it.
    public let label: String?
    /// Whether nothing is known that would refuse the event.
    public let enabled: Bool
    /// Why the event would be refused. Pointers begin with a service or `input`; an empty one means the stack.
    public let why: [JSONViolation]
}

/// A screen on the stack.
public struct FrameView: Sendable, Equatable {
    fileprivate let document: JSONDocument

    /// The id of the flow that the screen belongs to.
    public var flow: String { document.text("flow") }
    /// The id of the state.
    public var screen: String { document.text("screen") }
    /// How the screen came onto the stack.
    public var presentation: Frame.Presentation { document.presentation }
}

/// A coordinator with the coordinators that it has started, oldest first.
public struct CoordinatorView: Sendable, Equatable {
    /// The id of the flow that it runs.
    public let flow: String
    /// The state of its highest frame; where that is a child's frame, the state that started the child.
    public let state: String
    /// The coordinators that it has started.
    public let children: [CoordinatorView]
}

extension EventView {
    fileprivate init(_ document: JSONDocument) {
        name = document.text("name")
        label = document[member: "label"]?.string
        enabled = document[member: "enabled"]?.bool ?? false
        why = document.list("why").map { JSONViolation(pointer: $0.text("pointer"), detail: $0.text("detail")) }
    }
}

extension CoordinatorView {
    fileprivate init(_ document: JSONDocument) {
        flow = document.text("flow")
        state = document.text("state")
        children = document.list("children").map(CoordinatorView.init)
    }
}

extension JSONDocument {
    fileprivate func text(_ name: String) -> String { self[member: name]?.string ?? "" }

    /// A member that is there and not null.
    fileprivate func present(_ name: String) -> JSONDocument? {
        guard let value = self[member: name], !value.isNull else { return nil }
        return value
    }

    fileprivate func list(_ name: String) -> [JSONDocument] { self[member: name]?.elements ?? [] }

    fileprivate func time(_ name: String) -> Int64? {
        self[member: name]?.string.flatMap(Timestamp.init)?.millisecondsSince1970
    }

    fileprivate var presentation: Frame.Presentation { Frame.Presentation(rawValue: text("presentation")) ?? .push }
}
