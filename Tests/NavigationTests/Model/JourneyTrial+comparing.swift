import JSONDocument

@testable import Navigation

/// What must be the same.
extension JourneyTrial {
    /// The view of the journey.
    func view() throws -> [UInt8] {
        try engine.textAndMemory(
            journey, services: services, now: now, knowing: GuardMemory(), timesMovedBy: 0
        ).text.bytes
    }

    func compare(_ story: String, isChanged: Bool = false) throws {
        func fail(_ what: String) -> Difference {
            Difference(description: "\(what): \(story)\n  engine \(describe(journey))\n  model  \(describeModel())")
        }
        if let flaw = engine.flaw(of: journey) { throw fail("\(flaw)") }
        guard journey.isActive == !model.coordinators.isEmpty else { throw fail("status") }
        guard (journey.status == .expired) == model.isExpired else { throw fail("expired") }
        guard journey.isActive || journey.outcome == model.outcome else { throw fail("outcome") }
        guard journey.task?.input[member: "flag"]?.bool == model.task?.flag else { throw fail("task") }
        guard journey.task?.challenge == model.task?.challenge else { throw fail("challenge") }
        guard journey.task?.hasMoved ?? false == model.task?.hasMoved ?? false else { throw fail("task that moved") }
        guard (journey.task?.result != nil) == (model.task?.result != nil),
            journey.task?.isHeld ?? false == model.isHeld
        else { throw fail("result") }
        guard journey.frames.count == model.frames.count else { throw fail("frames") }
        guard journey.coordinators.count == model.coordinators.count else { throw fail("coordinators") }
        var counterparts: [Int: Int] = [:]
        for (place, (frame, other)) in zip(journey.frames, model.frames).enumerated() {
            guard frame.state == ModelFlow.name(other.state), frame.presentation == other.presentation else {
                throw fail("frame \(place)")
            }
            guard frame.params?[member: "number"]?.int == other.number else { throw fail("params of \(place)") }
            try pair(frame.coordinator, other.coordinator, &counterparts, fail)
            let isSealed = journey.frames[place...].contains { $0.mark == .invalidated }
            guard isSealed == model.frames[place...].contains(where: \.isSealed) else { throw fail("sealed \(place)") }
            guard isSealed || (frame.mark == .discarded) == other.isSkipped else { throw fail("skipped \(place)") }
        }
        // Live coordinators are the ones with frames.
        guard counterparts.count == journey.coordinators.count else { throw fail("coordinators without frames") }
        guard services.flags == model.session else { throw fail("flags") }
        guard journey.owned.count == model.owned.count else { throw fail("owned") }
        for (one, other) in zip(journey.owned, model.owned) {
            guard counterparts[one.coordinator] == other.coordinator, one.name == other.service,
                FlagServices.flags(of: one.document) == other.flags
            else { throw fail("owned \(one.name)") }
        }
        guard journey.dueAt == model.dueAt, journey.expiresAt == model.expiresAt else { throw fail("times") }
        guard isChanged, !model.isDue else { return }
        let view = JourneyView(json: try view())
        guard view.dueAt == model.dueAt else { throw fail("due_at") }
        for service in ModelFlow.services.keys {
            guard let shown = view.screen?[service] else { continue }
            guard FlagServices.flags(of: shown) == model.flags(of: service, seenBy: model.frames.last?.coordinator)
            else { throw fail("shown \(service)") }
        }
    }

    /// Notes who corresponds to whom, up to the top of the tree, which must be the same each time.
    func pair(
        _ one: Int, _ other: Int, _ counterparts: inout [Int: Int], _ fail: (String) -> Difference
    ) throws {
        if let known = counterparts[one] {
            guard known == other else { throw fail("coordinator \(one)") }
            return
        }
        guard !counterparts.values.contains(other) else { throw fail("coordinator \(one)") }
        counterparts[one] = other
        guard let left = journey.coordinator(one) else { throw fail("no coordinator \(one)") }
        let right = model.coordinator(other)
        guard left.flow == flows[right.flow].id, left.startedBy == right.startedBy.map(ModelFlow.name) else {
            throw fail("coordinator \(one)")
        }
        switch (left.parent, right.parent) {
        case (nil, nil): break
        case (let one?, let other?): try pair(one, other, &counterparts, fail)
        default: throw fail("parent of \(one)")
        }
    }

    func describe(_ journey: Journey) -> String {
        let frames = journey.frames.map { "\($0.coordinator).\($0.state)(\($0.presentation) \($0.mark))" }
        let coordinators = journey.coordinators.map { "\($0.id)=\($0.flow)<\($0.parent ?? -1)" }
        let owned = journey.owned.map { "\($0.coordinator).\($0.name)=\($0.document)" }
        return "\(frames) \(coordinators) \(services.flags) \(owned) \(journey.task?.input ?? .null) "
            + "due \(journey.dueAt ?? 0), over \(journey.expiresAt ?? 0), entered \(journey.enteredAt)"
    }

    func describeModel() -> String {
        let frames = model.frames.map {
            "\($0.coordinator).s\($0.state)(\($0.presentation)\($0.isSkipped ? " skipped" : "")\($0.isSealed ? " sealed" : ""))"
        }
        let coordinators = model.coordinators.map { "\($0.id)=f\($0.flow)<\($0.parent ?? -1)" }
        let owned = model.owned.map { "\($0.coordinator).\($0.service)=\($0.flags)" }
        return "\(frames) \(coordinators) \(model.session) \(owned) \(model.task?.flag ?? false) "
            + "due \(model.dueAt ?? 0), over \(model.expiresAt ?? 0)"
    }
}
