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
