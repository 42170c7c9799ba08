import JSONDocument

/// A navigation stack as the rules of moving see it: frames, from the top down.
///
/// The rules are written once, below, and used for two representations. A journey has an array of frames. A search for
/// a way has thousands of stacks, which share their lower frames (``RouteStack``).
protocol FrameStack {
    /// Names a frame of the stack.
    associatedtype Place: Equatable
    /// Nil when the stack is empty.
    var top: Place? { get }
    subscript(place: Place) -> Frame { get }
    /// The frame below; nil for the first.
    func below(_ place: Place) -> Place?
}

extension [Frame]: FrameStack {
    var top: Int? { indices.last }
    func below(_ place: Int) -> Int? { place > 0 ? place - 1 : nil }
}

/// How a stack moves: the frames above ``landing`` leave, and then a new frame may be put on top.
struct StackMove<Place: Equatable> {
    /// Nil when no frame stays.
    let landing: Place?
    /// The presentation of the new frame; nil when the landing itself is uncovered.
    let presentation: Frame.Presentation?

    static func uncover(_ landing: Place?) -> StackMove { StackMove(landing: landing, presentation: nil) }

    static func put(on landing: Place?, as presentation: Frame.Presentation = .push) -> StackMove {
        StackMove(landing: landing, presentation: landing == nil ? .root : presentation)
    }
}

/// Why a stack cannot move as a verb says.
enum StackObstacle: String, Error {
    case noModalContext = "there is no modal context to dismiss"
    case noScreenBelow = "there is no screen to go back to"
    case closedRoot = "the first screen cannot be gone back to"

    var violation: JSONViolation { JSONViolation(pointer: "", detail: rawValue) }
}

extension JSONViolation {
    /// Why a link does not take a transition.
    static let damage = JSONViolation(pointer: "", detail: "changes something, and a link changes nothing")
}

extension FrameStack {
    /// How a verb moves the stack.
    ///
    /// - Parameters:
    ///   - target: the frame that the verb leads to; nil for a verb that stands alone.
    ///   - isUncovered: whether the frames above the top one have just left, so that it counts as one below.
    ///   - isOpen: whether the `requires` of a frame's screen hold.
    func move<Failure: Error>(
        by verb: NavigationVerb, to target: Frame?, isUncovered: Bool = false,
        isOpen: (Frame) throws(Failure) -> Bool
    ) throws(Failure) -> Result<StackMove<Place>, StackObstacle> {
        let landing: Place
        switch verb {
        case .push: return .success(.put(on: top))
        case .present: return .success(.put(on: top, as: .modal))
        case .replace:
            guard let top else { return .success(.put(on: nil)) }
            return .success(.put(on: below(top), as: self[top].presentation))
        case .setRoot: return .success(.put(on: nil))
        case .popTo, .resume:
            if isUncovered, let top, target?.showsSame(as: self[top]) ?? true { return .success(.uncover(top)) }
            let found = try self.landing(where: { target?.showsSame(as: $0) ?? true }, isOpen: isOpen)
            return .success(found.map { .uncover($0) } ?? .put(on: top))
        case .pop:
            guard let found = try self.landing(isOpen: isOpen) else { return .failure(.noScreenBelow) }
            landing = found
        case .dismiss:
            guard let found = belowModal else { return .failure(.noModalContext) }
            landing = found
        case .popToRoot:
            guard let found = try contextRoot(isOpen: isOpen) else { return .failure(.closedRoot) }
            landing = found
        }
        guard let target, !target.showsSame(as: self[landing]) else { return .success(.uncover(landing)) }
        return .success(.put(on: landing))
    }

    /// The nearest frame below the top that history allows to go back to, that is wanted, and whose screen is open.
    func landing<Failure: Error>(
        where isWanted: (Frame) -> Bool = { _ in true }, isOpen: (Frame) throws(Failure) -> Bool
    ) throws(Failure) -> Place? {
        var above = top
        // An invalidated frame speaks for all below it.
        while let place = above, self[place].mark != .invalidated, let next = below(place) {
            let frame = self[next]
            if frame.mark == .none, isWanted(frame), try isOpen(frame) { return next }
            above = next
        }
        return nil
    }

    /// The first frame of the topmost context, if it is the top or can be gone back to.
    private func contextRoot<Failure: Error>(
        isOpen: (Frame) throws(Failure) -> Bool
    ) throws(Failure) -> Place? {
        guard var place = top else { return nil }
        if self[place].presentation.beginsContext { return place }
        while self[place].mark != .invalidated, let next = below(place) {
            let frame = self[next]
            if frame.presentation.beginsContext { return frame.mark == .none ? try isOpen(frame) ? next : nil : nil }
            place = next
        }
        return nil
    }

    /// The frame below the topmost modal context.
    private var belowModal: Place? {
        var next = top
        while let place = next {
            if self[place].presentation == .modal { return below(place) }
            next = below(place)
        }
        return nil
    }
}

extension Frame {
    /// Whether the other is a frame of the same screen of the same coordinator, with the params that this one asks for.
    func showsSame(as other: Frame) -> Bool {
        coordinator == other.coordinator && state == other.state && (params == nil || params == other.params)
    }

    /// Whether these are among its params.
    func has(_ wanted: JSONDocument?) -> Bool {
        wanted?.members?.allSatisfy { params?[member: $0.name] == $0.value } ?? true
    }
}

extension Frame.Mark {
    /// The mark of the top frame after a transition with that policy.
    func after(_ policy: HistoryPolicy) -> Frame.Mark {
        switch (policy, self) {
        case (.invalidate, _): .invalidated
        case (.discard, .none): .discarded
        case (.preserve, .discarded): .none
        case (.preserve, _), (.discard, _): self
        }
    }
}
