import JSONDocument

/// Frames whose params a client names. They are made as all frames are, by a transition: the params say what data the
/// transition's event has to be sent with, and that is checked like any data of the event.
extension FlowEngine {
    /// Checks params by what transitions give to the frames of a screen, whatever the data of services is.
    ///
    /// - Throws: ``JourneyRefusal/paramsInvalid(_:)``.
    func check(
        _ params: JSONDocument, of screen: String, in flows: [FlowDefinition]
    ) throws(JourneyRefusal) {
        if let violation = params.nestingViolation() { throw .paramsInvalid([violation]) }
        let makers = flows.flatMap { self.makers(of: screen, in: $0) }
        guard !makers.isEmpty else {
            throw .paramsInvalid([
                JSONViolation(pointer: "", detail: "must be left out, because no transition gives \"\(screen)\" params")
            ])
        }
        var names: Set<String>? = []
        for maker in makers {
            if let own = maker.template.names { names?.formUnion(own) } else { names = nil }
        }
        if let names {
            let unknown = (params.members ?? []).map(\.name).filter { !names.contains($0) }
            guard unknown.isEmpty else {
                throw .paramsInvalid(
                    unknown.map {
                        JSONViolation(
                            pointer: JSONPointer([$0]).description,
                            detail: "is not a param of \"\(screen)\", which has "
                                + names.sorted().joined(separator: ", "))
                    })
            }
        }
        var first: [JSONViolation]?
        for maker in makers {
            let violations = maker.violations(of: params)
            if violations.isEmpty { return }
            first = first ?? violations
        }
        throw .paramsInvalid(first ?? [])
    }

    /// What gives params to a frame.
    private struct Maker {
        let template: ValueTemplate
        /// The schema of the data of its event; nil without an event or a schema.
        let shape: ShapeRule?

        /// Why it cannot make these params, with pointers within them.
        func violations(of params: JSONDocument) -> [JSONViolation] {
            guard let sources = template.sources(of: params) else {
                return [JSONViolation(pointer: "", detail: "must be an object")]
            }
            var violations = sources.compactMap(\.mismatch)
            guard let shape, let data = template.eventData(making: params), !shape.accepts(data) else {
                return violations
            }
            // What else the event needs is an obstacle on the way.
            for violation in shape.violations(in: data) {
                for source in sources {
                    guard case .event(let pointer) = source.origin else { continue }
                    let event = pointer.description
                    guard violation.pointer == event || violation.pointer.hasPrefix(event + "/") else { continue }
                    violations.append(
                        JSONViolation(
                            pointer: source.param + violation.pointer.dropFirst(event.count), detail: violation.detail))
                }
            }
            return violations
        }
    }

    private func makers(of screen: String, in flow: FlowDefinition) -> [Maker] {
        func makers(_ list: [CausedTransition], _ screenOfList: Screen?) -> [Maker] {
            list.compactMap { caused in
                guard let template = caused.transition.params, let target = caused.transition.target,
                    leads(target, to: screen, in: flow, hops: 0)
                else { return nil }
                guard case .event(let event) = caused.cause else { return Maker(template: template, shape: nil) }
                return Maker(template: template, shape: screenOfList?.accepts[event] ?? flow.accepts[event])
            }
        }
        return flow.states.flatMap { makers($0.causedTransitions, $0.screen) } + makers(flow.causedTransitions, nil)
    }

    /// Whether a state is the screen, or leads to it without an event.
    private func leads(_ state: Int, to screen: String, in flow: FlowDefinition, hops: Int) -> Bool {
        guard hops < Self.maximumHops else { return false }
        switch flow.states[state].kind {
        case .screen: return flow.states[state].id == screen
        case .choice(let branches):
            return branches.contains { $0.target.map { leads($0, to: screen, in: flow, hops: hops + 1) } ?? false }
        case .flow(let child):
            guard let child = catalog.flow(child.flow, version: child.version) else { return false }
            return leads(child.initial, to: screen, in: child, hops: hops + 1)
        case .task, .final: return false
        }
    }
}

extension ValueTemplate {
    /// Where a template takes a member of its value from.
    fileprivate struct Source {
        enum Origin {
            /// The data of the event, at a place.
            case event(JSONPointer)
            case constant(JSONDocument)
            /// Anything else: what it is shows when it is made.
            case other
        }

        /// The JSON Pointer of the member.
        let param: String
        let value: JSONDocument
        let origin: Origin

        /// Why the template does not make the value.
        var mismatch: JSONViolation? {
            guard case .constant(let constant) = origin, constant != value else { return nil }
            return JSONViolation(pointer: param, detail: "must be \(constant)")
        }
    }

    /// The members that its value has; nil where that is not known.
    fileprivate var names: Set<String>? {
        switch self {
        case .object(let members): Set(members.map(\.name))
        case .literal(let value): value.members.map { Set($0.map(\.name)) }
        default: nil
        }
    }

    /// Where it takes each of these members from; nil for what is not an object.
    fileprivate func sources(of params: JSONDocument) -> [Source]? {
        params.members.map { members in
            members.map { name, value in
                Source(param: JSONPointer([name]).description, value: value, origin: origin(of: name))
            }
        }
    }

    private func origin(of name: String) -> Source.Origin {
        switch self {
        case .object(let members):
            switch members.first(where: { $0.name == name })?.value {
            case .literal(let value)?: return .constant(value)
            case .from(let path, _)? where path.root == .event && path.built.isEmpty: return .event(path.pointer)
            default: return .other
            }
        case .literal(let value): return value[member: name].map { .constant($0) } ?? .other
        case .from(let path, _) where path.root == .event && path.built.isEmpty:
            return .event(path.pointer.appending(name))
        default: return .other
        }
    }

    /// The data of an event of which the template makes these params, if it takes any of them from there.
    func eventData(making params: JSONDocument) -> JSONDocument? {
        var data: JSONDocument?
        for source in sources(of: params) ?? [] {
            guard case .event(let pointer) = source.origin, !pointer.tokens.isEmpty else { continue }
            let patch = pointer.tokens.reversed().reduce(source.value) { value, name in
                JSONDocument(members: [(name: name, value: value)])
            }
            data = (data ?? .emptyObject).merging(patch)
        }
        return data
    }
}

extension RouteSearch {
    /// Sends an event with the data of which it makes the frame that is looked for.
    mutating func sendForParams(_ reaction: Reaction, from origin: Int) {
        guard let params else { return }
        let top = places[origin].top
        for transition in reaction.rule.transitions {
            guard let data = transition.params?.eventData(making: params) else { continue }
            let alternatives = self.alternatives(
                reaction.rule.transitions, of: reaction.coordinator, with: stacks[top].params, sending: data)
            guard let first = alternatives.first(where: { $0.0.place == transition.place }) else { continue }
            var obstacle = first.1
            if let shape = reaction.shape, !shape.accepts(data) {
                obstacle = obstacle ?? .violations(shape.violations(in: data).within("/event"))
            }
            if !transition.isOpenToLinks, !isByOperator { obstacle = obstacle ?? .damage }
            let arrivals = self.arrivals(
                by: transition, of: reaction.coordinator, on: top, sending: data, obstacle)
            // A screen on the way does not take what is meant for the one that is looked for.
            for arrival in arrivals where isWanted(stacks[arrival.top]) {
                insert(
                    arrival, from: origin, event: reaction.rule.event, data,
                    doesDamage: isByOperator && !transition.isOpenToLinks)
            }
        }
    }
}
