import JSONDocument

/// The data that the paths, templates and guards of a flow, or of a command, see at one moment.
struct DataScope {
    let definition: Definition
    let services: StepServices
    /// Which of the services coordinators own.
    let owners: ServiceOwners
    var event: EventData
    let input: JSONDocument
    let output: JSONDocument?
    /// The output of the last command that the list of actions has called.
    var result: JSONDocument?
    /// The `params` of the frame.
    let frame: JSONDocument?
    var now: Int64
    /// Inside of a list function the element that it looks at.
    var element: ListElement?

    /// Where the paths, templates and guards are written.
    enum Definition {
        case flow(FlowDefinition)
        case command(CommandDefinition)

        var guards: [NamedGuard] {
            switch self {
            case .flow(let flow): flow.guards
            case .command(let command): command.guards
            }
        }

        var hiddenServices: Set<String> {
            switch self {
            case .flow(let flow): flow.hiddenServices
            case .command(let command): command.hiddenServices
            }
        }
    }

    /// The data of the event; of a command, its input.
    enum EventData {
        /// The step has no event.
        case none
        /// An event may come, with data that is not known yet: the step only looks at what is possible.
        case unknown
        case data(JSONDocument)
    }

    /// The result of looking at a path.
    enum Finding {
        case value(JSONDocument)
        case missing
        /// It depends on an event that has not come.
        case unknown
    }

    /// The state of a service, of the coordinator that owns it or of the session.
    func document(of service: String) -> JSONDocument? {
        services.document(of: service, owner: owners.owner(of: service))
    }

    func find(_ path: DataPath) -> Finding {
        if !path.built.isEmpty { return findBuilt(path) }
        let finding = look(at: path)
        if element != nil { spend(on: finding) }
        return finding
    }

    private func look(at path: DataPath) -> Finding {
        let whole: JSONDocument?
        switch path.root {
        case .service(let name): whole = document(of: name)
        case .event:
            switch event {
            case .none: whole = nil
            case .unknown: return .unknown
            case .data(let data): whole = data
            }
        case .input: whole = input
        case .output: whole = output
        case .result: whole = result
        case .frame: whole = frame
        case .now:
            spend(Self.workOfTime)
            whole = JSONDocument(Timestamp(millisecondsSince1970: now).description)
        case .item: whole = element?.item
        case .index: whole = element.map { JSONDocument($0.index) }
        }
        guard let whole else { return .missing }
        if path.pointer.tokens.isEmpty { return .value(whole) }
        return whole.value(at: path.pointer).map { .value($0) } ?? .missing
    }

    /// The value that a template makes.
    ///
    /// - Throws: ``JourneyRefusal/actionFailed(_:)`` with the path at which there is no value, or no such value as a
    ///   function needs.
    func value(of template: ValueTemplate) throws(JourneyRefusal) -> JSONDocument {
        do {
            return try evaluate(template)
        } catch {
            throw error.refusal
        }
    }
}
