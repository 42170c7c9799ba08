import JSONDocument

/// Flags, and conditions and effects on them.
extension ModelJourney {
    /// Who has the service that a coordinator sees; nil for the session.
    func owner(of service: String, seenBy coordinator: Int?) -> Int? {
        guard let coordinator else { return nil }
        let here = self.coordinator(coordinator)
        return flows[here.flow].owns.contains(service) ? here.id : owner(of: service, seenBy: here.parent)
    }

    /// The service that a coordinator sees.
    func flags(of service: String, seenBy coordinator: Int?) -> [String: Bool] {
        guard let owner = owner(of: service, seenBy: coordinator) else { return session[service] ?? [:] }
        let written = owned.first { $0.coordinator == owner && $0.service == service }
        return written?.flags ?? ModelFlow.services[service] ?? [:]
    }

    func read(_ flag: String, _ coordinator: Int?) -> Bool {
        flags(of: ModelFlow.service(of: flag), seenBy: coordinator)[flag] ?? false
    }

    mutating func set(_ flag: String, _ value: Bool?, _ coordinator: Int?) {
        let service = ModelFlow.service(of: flag)
        var flags = flags(of: service, seenBy: coordinator)
        flags[flag] = value
        guard let owner = owner(of: service, seenBy: coordinator) else {
            session[service] = flags
            return
        }
        if let place = owned.firstIndex(where: { $0.coordinator == owner && $0.service == service }) {
            owned[place].flags = flags
        } else {
            owned.append(Owned(coordinator: owner, service: service, flags: flags))
        }
    }

    mutating func remove(_ service: String, _ coordinator: Int?) {
        guard let owner = owner(of: service, seenBy: coordinator) else {
            session[service] = ModelFlow.services[service]
            return
        }
        guard let place = owned.firstIndex(where: { $0.coordinator == owner && $0.service == service }) else { return }
        owned.remove(at: place)
        removed.append(service)
    }

    /// The first move whose condition holds. What is undecided refuses them all.
    func first(of moves: [ModelFlow.Move], _ coordinator: Int) throws -> ModelFlow.Move? {
        for move in moves {
            guard let condition = move.condition else { return move }
            guard let verdict = verdict(condition, coordinator) else { throw Refused() }
            if verdict { return move }
        }
        return nil
    }

    func holds(_ condition: ModelFlow.Condition?, _ coordinator: Int) -> Bool {
        guard let condition else { return true }
        return verdict(condition, coordinator) == true
    }

    /// Nil is undecided.
    func verdict(_ condition: ModelFlow.Condition, _ coordinator: Int) -> Bool? {
        switch condition {
        case .flag(let name, let wanted): return read(name, coordinator) == wanted
        case .isSmall: return read("n", coordinator) ? true : nil
        case .isLarge: return read("n", coordinator) ? false : nil
        case .not(let part): return verdict(part, coordinator).map { !$0 }
        case .all(let parts):
            let verdicts = parts.map { verdict($0, coordinator) }
            return verdicts.contains(false) ? false : verdicts.contains(nil) ? nil : true
        case .any(let parts):
            let verdicts = parts.map { verdict($0, coordinator) }
            return verdicts.contains(true) ? true : verdicts.contains(nil) ? nil : false
        }
    }

    mutating func apply(_ effects: [ModelFlow.Effect], _ coordinator: Int) {
        for effect in effects {
            if case .note(let word) = effect {
                notes.append("\(word) \(Timestamp(millisecondsSince1970: now))")
                continue
            }
            hasWritten = true
            switch effect {
            case .set(let flag, let value): set(flag, value, coordinator)
            case .reckon: set("n", read("a", coordinator), coordinator)
            case .take(let flag): set(flag, output ?? false, coordinator)
            case .turn(let flag):
                let was = read(flag, coordinator)
                set(flag, !was, coordinator)
                set("c", was, coordinator)
            case .clear(let service):
                // Nothing is made to be cleared.
                guard let owner = owner(of: service, seenBy: coordinator) else {
                    session[service] = ModelFlow.services[service]
                    continue
                }
                for place in owned.indices where owned[place].coordinator == owner && owned[place].service == service {
                    owned[place].flags = ModelFlow.services[service] ?? [:]
                }
            case .remove(let service): remove(service, coordinator)
            case .give(let value): set(value, true, coordinator)
            case .empty(let value): set(value, nil, coordinator)
            case .note: break
            }
        }
    }
}
