import Foundation

/// A way through a flow: draw the screen of its state, send one of the state's events.
///
///     let journey = try await session.start("wizard")
///     for try await state in journey.states { draw(state.screen, state.events) }
public struct Journey: Sendable, Identifiable {
    /// Where a journey is, and where it can go.
    public struct State: Decodable, Sendable, Hashable {
        /// That of the journey.
        public let id: String
        /// Its flow.
        public let flow: String
        /// `active`, `finished`, `expired` or `stuck`.
        public let status: String
        /// Only grows.
        public let step: Int
        /// What to draw; `nil` when the journey is over.
        public let screen: Screen?
        /// What can be sent.
        public let events: [Event]
        /// Whether `back()` is possible.
        public let canGoBack: Bool
        /// The screens below each other, the one that is shown last.
        public let stack: [Frame]
        /// How it ended.
        public let outcome: String?
        /// What it gave at its end.
        public let output: JSONValue?
        /// When something happens by itself next; `nil` for never, as the data is.
        public let dueAt: Date?
        /// What the last step tells the person; it stays until the next step. `nil` for nothing.
        public let message: String?

        private enum CodingKeys: String, CodingKey {
            case id, flow, status, step, screen, events, stack, outcome, output, message
            case canGoBack = "can_go_back"
            case dueAt = "due_at"
        }
    }

    /// What is to be drawn.
    public struct Screen: Decodable, Sendable, Hashable {
        /// Which state of the flow it is.
        public let id: String
        /// Which screen of the client draws it.
        public let name: String
        /// For people.
        public let title: String?
        /// How it came: `root`, `push`, `present`.
        public let presentation: String
        /// The documents that are shown, by the names of their services.
        public let data: [String: JSONValue]
        /// What the transition that led here gave along.
        public let params: JSONValue?
        /// `busy` while the journey waits for a task.
        public let status: String?

        /// The document of a service that the screen shows.
        public func document<Document: Decodable>(
            _ service: String, as type: Document.Type = Document.self
        ) throws -> Document {
            try (data[service] ?? .null).decode(type)
        }
    }

    /// What a screen accepts.
    public struct Event: Decodable, Sendable, Hashable {
        /// To be sent.
        public let name: String
        /// What people call it; `nil` when the flow has no word for it.
        public let label: String?
        /// Whether it would be accepted now.
        public let enabled: Bool
        /// Why it is not enabled.
        public let why: [Problem.Violation]?
    }

    /// A screen on the stack.
    public struct Frame: Decodable, Sendable, Hashable {
        /// The flow that the screen is of.
        public let flow: String
        /// The state of that flow.
        public let screen: String
        /// How it came: `root`, `push`, `present`.
        public let presentation: String
    }

    let live: Live<State>

    /// In paths, and to find it again by `Session.journey(_:)`.
    public let id: String

    init(session: Session, id: String) {
        self.id = id
        live = Live(
            session: session, path: "\(Session.current)/journeys/\(id)",
            isConcerned: { change in
                // A write to a service of the screen changes what the journey shows. Each step writes `coordinator`.
                change.journey == id || (change.service.map { $0 != "coordinator" } ?? false)
            },
            isLast: { $0.status == "finished" || $0.status == "expired" })
    }

    /// As it was seen last; `nil` before, and when the journey is gone.
    public var state: State? { live.value }

    /// The state now, and again whenever anything that it shows has changed, no matter which client made the change.
    /// Ends with the journey; throws when the session ends.
    public var states: AsyncThrowingStream<State, any Error> { live.values() }

    /// Reads the state.
    @discardableResult
    public func get() async throws -> State { try await live.get() }

    /// Takes a step from what was seen last.
    ///
    /// - Throws: a `Problem` with status 412 when that has changed meanwhile; `state` is the new one then.
    @discardableResult
    public func send(_ event: String, _ data: JSONValue? = nil) async throws -> State {
        let body = JSONValue.object(given: [
            "event": .string(event), "data": data, "challenge": .string(live.session.challenge),
        ])
        do {
            return try await live.call("POST", "/events", body: body, ifMatch: live.etag)
        } catch let problem as Problem where problem.status == 412 {
            try await get()
            throw problem
        }
    }

    /// Takes a step by an event of `concierge types swift`, which knows the type of its data.
    @discardableResult
    public func send(_ event: some JourneyEvent) async throws -> State {
        let (name, data) = try event.event
        return try await send(name, data)
    }

    /// Returns to the screen below.
    ///
    /// - Parameter data: what the screen accepts with `back`, such as a draft.
    @discardableResult
    public func back(_ data: JSONValue? = nil) async throws -> State { try await send("back", data) }

    /// A deep link: goes to a screen along a path that the server computes.
    ///
    /// - Parameter params: those of the screen's frame, as `Screen.params` shows them.
    /// - Throws: a `Problem` with status 409 that says what blocks it.
    @discardableResult
    public func navigate(to screen: String, params: JSONValue? = nil) async throws -> State {
        try await live.call("POST", "/navigation", body: .object(given: ["to": .string(screen), "params": params]))
    }

    /// Releases everything of the journey and begins again. The session's services stay.
    ///
    /// - Parameter flow: the same one if `nil`.
    @discardableResult
    public func startOver(_ flow: String? = nil, input: JSONValue? = nil) async throws -> State {
        try await live.call("PUT", body: .object(given: ["flow": flow.map(JSONValue.string), "input": input]))
    }

    /// Ends it without an outcome.
    public func abandon() async throws {
        _ = try await live.session.request("DELETE", live.path)
        live.forget()
    }

    /// A secret by which the journey can be taken to another session, once.
    ///
    /// - Parameter time: how long it is good for, such as `7d`, which is the default.
    public func link(for time: String? = nil) async throws -> String {
        let body = JSONValue.object(given: ["expires_in": time.map(JSONValue.string)])
        let answer = try await live.session.request("POST", "\(live.path)/links", body: body)
        let made: MadeLink = try answer.decode()
        return made.link
    }

    private struct MadeLink: Decodable {
        let link: String
    }

    /// A service as this journey sees it: its flow's own, else the session's.
    public func service<Document>(_ name: String, of type: Document.Type = Document.self) -> Service<Document> {
        Service(session: live.session, path: "\(live.path)/services/\(name)") { [id] change in
            change.journey == id || change.service == name
        }
    }
}

/// What a screen accepts, with its data. `concierge types swift` writes one type for each screen.
public protocol JourneyEvent: Sendable {
    /// What is sent.
    var event: (name: String, data: JSONValue?) { get throws }
}

/// Maps screens to whatever draws them: the coordinator of an app, without the navigation logic, which the server has.
///
///     final class AppCoordinator: Coordinator {
///         let window = UINavigationController()
///         func drawing(of frame: Journey.Frame, in journey: Journey) -> PageController { … }
///         func update(_ page: PageController, with state: Journey.State) { page.state = state }
///         func show(_ pages: [PageController], of state: Journey.State) {
///             window.setViewControllers(pages, animated: true)
///         }
///     }
///     let outcome = try await coordinator.run(journey)?.outcome
@MainActor
public protocol Coordinator {
    /// What draws a screen: a view controller, a view, a text.
    associatedtype Drawing

    /// Makes what draws a screen. It is kept while the screen is on the stack.
    func drawing(of frame: Journey.Frame, in journey: Journey) -> Drawing

    /// Draws the state of the journey on its topmost screen.
    func update(_ drawing: Drawing, with state: Journey.State)

    /// Shows the screens that are on the stack now, the topmost last. `Frame.presentation` says how each one came.
    func show(_ drawings: [Drawing], of state: Journey.State)
}

extension Coordinator {
    /// Draws a journey until it ends or the task is cancelled. A screen that stays on the stack keeps its drawing.
    ///
    /// - Returns: the last state.
    @discardableResult
    public func run(_ journey: Journey) async throws -> Journey.State? {
        var shown: [(frame: Journey.Frame, drawing: Drawing)] = []
        var last: Journey.State?
        for try await state in journey.states {
            let common = zip(shown, state.stack).prefix { $0.frame == $1 }.count
            shown.removeLast(shown.count - common)
            for frame in state.stack[common...] { shown.append((frame, drawing(of: frame, in: journey))) }
            if let top = shown.last { update(top.drawing, with: state) }
            show(shown.map(\.drawing), of: state)
            last = state
        }
        return last
    }
}
