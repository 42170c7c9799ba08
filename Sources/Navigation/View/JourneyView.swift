import JSONDocument

/// A journey as a client sees it: the JSON text, and the same as values. Times are milliseconds since 1970.
public struct JourneyView: Sendable, Equatable {
    /// The JSON text that clients get.
    public let json: [UInt8]
    /// The id of the journey.
    public let id: String
    /// The id of the journey's own flow.
    public let flow: String
    /// The version of the flow.
    public let version: Int
    /// Whether the journey is running.
    public let status: JourneyStatus
    /// The number of the last step.
    public let step: UInt64
    /// The top screen; nil once the journey is over.
    public let screen: ScreenView?
    /// The events of the screen, except `back`.
    public let events: [EventView]
    /// Whether the event `back` is accepted.
    public let canGoBack: Bool
    /// The frames from the bottom up.
    public let stack: [FrameView]
    /// The journey's own coordinator; nil once the journey is over.
    public let coordinators: CoordinatorView?
    /// The outcome of a finished journey.
    public let outcome: String?
    /// The output of a finished journey; nil when there is none, or it is null.
    public let output: JSONDocument?
    /// When the flow started, or started over.
    public let startedAt: Int64
    /// When the journey expires unless it moves; nil: never.
    public let expiresAt: Int64?
}

/// The screen that the client draws.
public struct ScreenView: Sendable, Equatable {
    /// The id of the state.
    public let id: String
    /// The client's name for the screen.
    public let name: String
    /// The title for people.
    public let title: String?
    /// How the screen came onto the stack.
    public let presentation: Frame.Presentation
    /// Whether the journey waits for a task, and the client for the journey.
    public let isBusy: Bool
    /// The documents of the screen's services, sorted by name.
    public let data: [ServiceView]
    /// The values that the transition gave to the frame; nil when it gave none.
    public let params: JSONDocument?

    /// The document of one of the screen's services.
    public subscript(service: String) -> JSONDocument? { data.first { $0.service == service }?.document }
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
    /// Whether nothing is known that would refuse the event.
    public let enabled: Bool
    /// Why the event would be refused. Pointers begin with a service or `input`; an empty one means the stack.
    public let why: [JSONViolation]

    /// An event as the view lists it.
    public init(name: String, enabled: Bool = true, why: [JSONViolation] = []) {
        self.name = name
        self.enabled = enabled
        self.why = why
    }
}

/// A screen on the stack.
public struct FrameView: Sendable, Equatable {
    /// The id of the flow that the screen belongs to.
    public let flow: String
    /// The id of the state.
    public let screen: String
    /// How the screen came onto the stack.
    public let presentation: Frame.Presentation

    /// A frame as the view lists it.
    public init(flow: String, screen: String, presentation: Frame.Presentation) {
        self.flow = flow
        self.screen = screen
        self.presentation = presentation
    }
}

/// A coordinator with the coordinators that it has started, oldest first.
public struct CoordinatorView: Sendable, Equatable {
    /// The id of the flow that it runs.
    public let flow: String
    /// The state of its highest frame; where that is a child's frame, the state that started the child.
    public let state: String
    /// The coordinators that it has started.
    public let children: [CoordinatorView]

    /// A coordinator as the view lists it.
    public init(flow: String, state: String, children: [CoordinatorView] = []) {
        self.flow = flow
        self.state = state
        self.children = children
    }
}

// MARK: - Reading the text

extension JourneyView {
    /// Reads the text that the engine wrote.
    package init(json: [UInt8]) {
        self.json = json
        let document = (try? JSONDocument(parsing: json)) ?? .null
        id = document.text("id")
        flow = document.text("flow")
        version = document[member: "version"]?.int ?? 0
        status = JourneyStatus(rawValue: document.text("status")) ?? .active
        step = UInt64(clamping: document[member: "step"]?.int ?? 0)
        screen = document[member: "screen"].flatMap(ScreenView.init)
        events = document.list("events").map(EventView.init)
        canGoBack = document[member: "can_go_back"]?.bool ?? false
        stack = document.list("stack").map(FrameView.init)
        coordinators = document[member: "coordinators"].flatMap { $0.isNull ? nil : CoordinatorView($0) }
        outcome = document[member: "outcome"]?.string
        output = document[member: "output"].flatMap { $0.isNull ? nil : $0 }
        startedAt = document.time("started_at") ?? 0
        expiresAt = document.time("expires_at")
    }
}

extension ScreenView {
    fileprivate init?(_ document: JSONDocument) {
        guard !document.isNull else { return nil }
        id = document.text("id")
        name = document.text("name")
        title = document[member: "title"]?.string
        presentation = document.presentation
        isBusy = document.text("status") == "busy"
        params = document[member: "params"]
        data = (document[member: "data"]?.members ?? []).map { ServiceView(service: $0.name, document: $0.value) }
    }
}

extension EventView {
    fileprivate init(_ document: JSONDocument) {
        name = document.text("name")
        enabled = document[member: "enabled"]?.bool ?? false
        why = document.list("why").map { JSONViolation(pointer: $0.text("pointer"), detail: $0.text("detail")) }
    }
}

extension FrameView {
    fileprivate init(_ document: JSONDocument) {
        flow = document.text("flow")
        screen = document.text("screen")
        presentation = document.presentation
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

    fileprivate func list(_ name: String) -> [JSONDocument] { self[member: name]?.elements ?? [] }

    fileprivate func time(_ name: String) -> Int64? {
        self[member: name]?.string.flatMap(Timestamp.init)?.millisecondsSince1970
    }

    fileprivate var presentation: Frame.Presentation { Frame.Presentation(rawValue: text("presentation")) ?? .push }
}
