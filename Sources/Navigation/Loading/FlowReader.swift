import JSONDocument

/// Reads one flow file and collects its problems, without looking at other files.
///
/// The definition leaves out what is wrong, so that the rest can still be checked.
///
/// To add a key: list it in ``FlowKeys`` with the schema of its value, read it where its object is read, and give the
/// definition a property.
package struct FlowReader {
    let file: String
    let services: ServiceDirectory
    package var problems: [FlowProblem] = []

    /// Filled before the first state is read, because transitions may lead to later states.
    var statePlaces: [String: Int] = [:]
    var stateNames: [String] = []
    var guardPlaces: [String: Int] = [:]
    var usedGuards: Set<Int> = []
    /// The flow's own `accepts`.
    var flowShapes: [EventShape] = []
    var flowEvents: [String] = []
    /// The flow's own `backend`.
    var flowBackend: Set<String> = []
    var inputSchema: JSONDocument?
    /// The text of the file, for the order of languages.
    var source: [UInt8] = []
    var places: JSONPlaces?
    var texts = FlowTexts.none
    /// How many more names may be compared for guesses.
    var patience = 50_000

    package init(file: String, source: [UInt8] = [], services: ServiceDirectory) {
        self.file = file
        self.source = source
        self.services = services
    }

    /// Returned even when the rest cannot be used: two files with the same id and version are a problem in any case.
    package struct Heading {
        package let id: String
        package let version: Int
    }

    /// - Returns: nil for the flow when an essential part is missing.
    package mutating func read(_ document: JSONDocument) -> (heading: Heading?, flow: FlowDefinition?) {
        guard document.kind == .object else {
            report(.root, .wrongType, "the file holds \(document.kind.phrase); a flow is an object")
            return (nil, nil)
        }
        let root = JSONPointer.root
        checkKeys(of: document, at: root, allowed: FlowKeys.flow.names, of: "a flow")
        let id = name("id", in: document, at: root, isRequired: true)
        let version = readVersion(document)
        let heading = id.flatMap { id in version.map { Heading(id: id, version: $0) } }

        let states = members("states", in: document, at: root, isRequired: true)
        let guards = members("guards", in: document, at: root)
        stateNames = states.map(\.name)
        for (place, state) in states.enumerated() { statePlaces[state.name] = place }
        for (place, guardian) in guards.enumerated() { guardPlaces[guardian.name] = place }
        flowEvents = document[member: "on"]?.members?.map(\.name) ?? []
        flowBackend = readFlowBackend(document, states: states)

        let input = shape("input", in: document, at: root)
        inputSchema = input?.document
        flowShapes = readShapes(in: document, at: root)
        let namedGuards = readGuards(guards)
        let read = states.map { readState($0.name, $0.value, at: root.appending("states").appending($0.name)) }
        let events = readEvents(in: document, at: root, shapes: flowShapes)
        checkShapes(flowShapes, at: root, accepted: flowEvents)
        let forms = readForms(in: document, at: root, shapes: flowShapes, accepted: flowEvents)
        let entry = actions("entry", in: document, at: root, DataContext(event: .maybe, hasOutput: false))
        let exit = actions("exit", in: document, at: root, DataContext(event: .maybe, hasOutput: false))
        let timeout = readTimeout(document)
        let inFlight = choice("in_flight", in: document, at: root, InFlightPolicy.self) ?? .pin
        let migrations = readMigrations(document)
        let summary = localText("description", in: document, at: root)
        let initial = stateName("initial", in: document, at: root, isRequired: true)
        let always = readAlways(document, at: root)
        let invalidates = readInvalidations(document)
        checkGuards(namedGuards)
        guard let heading, let initial, !states.isEmpty else { return (heading, nil) }
        let flow = FlowDefinition(
            id: heading.id, version: heading.version, summary: summary, document: document, states: read,
            initial: initial, guards: namedGuards, events: events, accepts: flowShapes, entry: entry, exit: exit,
            input: input,
            timeout: timeout, inFlight: inFlight, migrations: migrations, ownership: readOwnership(document),
            always: always, invalidates: invalidates, forms: forms, texts: texts)
        return (heading, flow)
    }

    private mutating func readVersion(_ document: JSONDocument) -> Int? {
        guard let version = document[member: "version"] else {
            report(.root, .missingKey, "version is missing; the first version of a flow is 1")
            return nil
        }
        return wholeNumber(version, at: JSONPointer(["version"]), "version")
    }

    private mutating func readTimeout(_ document: JSONDocument) -> FlowTimeout {
        guard let timeout = document[member: "timeout"] else { return .none }
        let place = JSONPointer(["timeout"])
        guard timeout.kind == .object else {
            report(
                place, .wrongType, "timeout is \(timeout.kind.phrase); expected an object with idle, total or both")
            return .none
        }
        checkKeys(of: timeout, at: place, allowed: FlowKeys.flowTimeout.names, of: "the timeout of a flow")
        return FlowTimeout(
            idle: timeout[member: "idle"].flatMap { milliseconds($0, at: place.appending("idle"), "idle") },
            total: timeout[member: "total"].flatMap { milliseconds($0, at: place.appending("total"), "total") })
    }

    private mutating func readMigrations(_ document: JSONDocument) -> [Migration] {
        guard let list = elements("migrations", in: document, at: .root) else { return [] }
        var migrations: [Migration] = []
        for (index, migration) in list.enumerated() {
            let place = JSONPointer(["migrations", String(index)])
            guard migration.kind == .object else {
                report(place, .wrongType, "a migration is an object, not \(migration.kind.phrase)")
                continue
            }
            checkKeys(of: migration, at: place, allowed: FlowKeys.migration.names, of: "a migration")
            var states: [String: String] = [:]
            for (old, new) in members("states", in: migration, at: place) {
                let place = place.appending("states").appending(old)
                if let new = state(new, at: place) { states[old] = new.name }
            }
            let patch = actions(
                "patch", in: migration, at: place, DataContext(event: .never, hasOutput: false, mayCall: false))
            guard let from = migration[member: "from"] else {
                report(place, .missingKey, "from is missing: the version to migrate from")
                continue
            }
            guard let from = wholeNumber(from, at: place.appending("from"), "from") else { continue }
            migrations.append(Migration(from: from, states: states, patch: patch))
        }
        return migrations
    }
}

/// The data at a place of a flow, besides services, input and time.
struct DataContext {
    var event: Event
    /// Whether a child may just have ended.
    var hasOutput: Bool
    /// The schema of what the last command has returned; nil where none was called before.
    var result: JSONDocument?
    /// Whether actions may call commands.
    var mayCall = true

    enum Event {
        case never
        /// There may be an event, with any data.
        case maybe
        /// There is an event, whose data fits this schema.
        case shaped(JSONDocument)
    }
}
