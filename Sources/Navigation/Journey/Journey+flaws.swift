import JSONDocument

extension Journey {
    /// A property that no engine gives a journey, whatever its flows: an imported journey may be anything that can be
    /// read. The pointer is into the stored document. Nil when there is none.
    var flaw: JSONViolation? {
        flawOfTimes ?? (isActive ? flawOfCoordinators ?? flawOfFrames ?? flawOfOwned ?? flawOfTimers : nil)
    }

    /// JSON numbers are exact up to here (RFC 8259, section 6), and adding a duration to such a time cannot overflow.
    private static let latest: Int64 = 1 << 53

    private var flawOfTimes: JSONViolation? {
        let times = [startedAt, movedAt, enteredAt] + coordinators.map(\.startedAt)
        if let task, task.number > step {
            return JSONViolation(pointer: "/task/0", detail: "must be the number of a step that was taken")
        }
        guard let wrong = times.first(where: { !(0...Self.latest).contains($0) }) else { return nil }
        return JSONViolation(pointer: "/at", detail: "must lead to times that there are, and not to \(wrong)")
    }

    /// The coordinators must be a tree, parents first, with ascending ids.
    var flawOfCoordinators: JSONViolation? {
        guard !coordinators.isEmpty else { return JSONViolation(pointer: "/who", detail: "must not be empty") }
        guard coordinators.count <= StepRun.maximumCoordinators else {
            return JSONViolation(pointer: "/who", detail: "must be \(StepRun.maximumCoordinators) at most")
        }
        guard coordinators[0].id == 0, coordinators[0].parent == nil else {
            return JSONViolation(
                pointer: "/who/0", detail: "must be the journey's own coordinator, which has no parent")
        }
        for place in coordinators.indices.dropFirst() {
            let child = coordinators[place]
            func flaw(_ member: Int, _ detail: String) -> JSONViolation {
                JSONViolation(pointer: "/who/\(place)/\(member)", detail: detail)
            }
            guard child.id > coordinators[place - 1].id, child.id <= Self.highestCoordinator else {
                return flaw(4, "must be a number higher than that of the coordinator before")
            }
            guard let parent = child.parent, coordinators[..<place].contains(where: { $0.id == parent }) else {
                return flaw(5, "must be the number of a coordinator before")
            }
            guard child.startedBy?.isEmpty == false else { return flaw(6, "must be the state that started it") }
        }
        return nil
    }

    /// Each service must belong to a coordinator, which has one of a name.
    private var flawOfOwned: JSONViolation? {
        for (place, service) in owned.enumerated() {
            let isFirst = !owned[..<place].contains { $0.service == service.service }
            let isTimely = [service.createdAt, service.updatedAt].allSatisfy { (0...Self.latest).contains($0) }
            guard isFirst, isTimely, coordinators.place(of: service.coordinator) != nil else {
                return JSONViolation(
                    pointer: "/own/\(place)", detail: "must be the one of its name of a coordinator that is there")
            }
        }
        return nil
    }

    /// No flow has that many timers that are due.
    private static let mostTimers = 1_000

    /// Each timer must be of the screen, or of a coordinator that is there, once.
    private var flawOfTimers: JSONViolation? {
        guard let timers = timers?.all else { return nil }
        guard timers.count <= Self.mostTimers else {
            return JSONViolation(pointer: "/timers", detail: "must be \(Self.mostTimers) at most")
        }
        for (place, timer) in timers.enumerated() {
            let isFirst = !timers[..<place].contains { $0.owner == timer.owner && $0.key == timer.key }
            let isOwned = timer.owner == PassedTimer.ofScreen || coordinators.place(of: timer.owner) != nil
            let isTimely = timer.first.map { (-Self.latest...Self.latest).contains($0) } ?? true
            guard isFirst, isOwned, isTimely, (0...Int(Self.latest)).contains(timer.count) else {
                return JSONViolation(
                    pointer: "/timers/\(place)",
                    detail: "must be a timer of the screen or of a coordinator that is there")
            }
        }
        return nil
    }

    /// Each child gets the next id; no journey starts that many.
    private static let highestCoordinator = 1 << 31

    /// Each frame must belong to a coordinator, and each coordinator must have a frame or a child that has one.
    private var flawOfFrames: JSONViolation? {
        guard !frames.isEmpty, frames.count <= StepRun.maximumFrames else {
            return JSONViolation(pointer: "/on", detail: "must be from 1 to \(StepRun.maximumFrames)")
        }
        var living: Set<Int> = []
        let ids = Set(coordinators.map(\.id))
        for (place, frame) in frames.enumerated() {
            guard ids.contains(frame.coordinator) else {
                return JSONViolation(pointer: "/on/\(place)", detail: "must be of a coordinator that is there")
            }
            guard (frame.presentation == .root) == (place == 0) else {
                return JSONViolation(
                    pointer: "/on/\(place)", detail: "must be the root where it is the first, else not")
            }
            living.insert(frame.coordinator)
        }
        for (place, coordinator) in coordinators.enumerated().reversed() {
            guard living.contains(coordinator.id) else {
                return JSONViolation(
                    pointer: "/who/\(place)", detail: "must have a screen on the stack, or a child that has one")
            }
            if let parent = coordinator.parent { living.insert(parent) }
        }
        return nil
    }
}
