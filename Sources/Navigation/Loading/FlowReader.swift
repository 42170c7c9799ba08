import JSONDocument

/// Reads one flow file, or the commands of a service file, and collects its problems, without looking at other files.
///
/// A definition reads itself (`init(reading:)`), from the keys that stand beside its properties. It leaves out what is
/// wrong, so that the rest can still be checked.
package struct FlowReader {
    let file: String
    let services: ServiceDirectory
    package internal(set) var problems: [FlowProblem] = []

    /// Filled before the first state is read, because transitions may lead to later states.
    var statePlaces: [String: Int] = [:]
    var stateNames: [String] = []
    var guardPlaces: [String: Int] = [:]
    var usedGuards: Set<Int> = []
    /// The flow's own `accepts`.
    var flowShapes: [String: ShapeRule] = [:]
    var flowEvents: [String] = []
    /// The flow's own `backend`.
    var flowBackend: Set<String> = []
    var inputSchema: JSONDocument?
    /// The names of the tasks that actions record.
    var sideTasks: Set<String> = []
    /// The paths into the `params` of a frame, and where they stand.
    var frameReads: [(place: JSONPointer, path: DataPath)] = []
    /// The text of the file, for the order of languages.
    let source: [UInt8]
    var places: JSONPlaces?
    /// Of its texts (BCP 47), in the order in which the file has them.
    var languages: [String] = []
    /// Those of each text that is written in several: documents do not keep the order of members.
    var languagesOfTexts: [String] = []
    /// How many more names may be compared for guesses.
    var patience = 50_000
    /// Whether the file declares a service: then there are neither an input of a flow, nor outputs, nor frames.
    let isOfService: Bool
    /// Whether values are taken as they are, without references and functions.
    let isLiteral: Bool
    /// Finds a time zone by its name.
    let zone: (String) -> CalendarZone?

    package init(
        file: String, source: [UInt8] = [], services: ServiceDirectory, isLiteral: Bool = false,
        isOfService: Bool = false, zone: @escaping (String) -> CalendarZone? = { _ in nil }
    ) {
        self.zone = zone
        self.file = file
        self.source = source
        self.services = services
        self.isLiteral = isLiteral
        self.isOfService = isOfService
    }

    /// - Returns: nil for the flow when an essential part is missing. The heading is returned even then: two files with
    ///   the same id and version are a problem in any case.
    package mutating func read(
        _ document: JSONDocument
    ) -> (heading: (id: String, version: Int)?, flow: FlowDefinition?) {
        let node = FlowNode(value: document, place: .root)
        guard node.isObject else {
            report(.root, .wrongType, "the file holds \(node.kind); a flow is an object")
            return (nil, nil)
        }
        checkKeys(of: node, FlowDefinition.keys, "a flow")
        let id = name(required("id", in: node))
        let version = wholeNumber(required("version", in: node, "; the first version of a flow is 1"))
        let heading = id.flatMap { id in version.map { (id: id, version: $0) } }
        return (heading, FlowDefinition(reading: node, heading, by: &self))
    }
}

/// The data at a place of a flow, besides services, input and time.
struct DataContext {
    var event: Event
    /// Whether a child or a task may just have ended.
    var hasOutput = false
    /// The schema of its output; nil where none is known.
    var output: JSONDocument?
    /// The schema of what the last command has returned; nil where none was called before.
    var result: JSONDocument?
    /// What may neither call commands nor record tasks, as in "a command"; nil where actions may.
    var withoutCalls: String?
    /// Inside of a list function the schema of the element; nil elsewhere.
    var item: JSONDocument?
    /// Whether what people are told is made once: by a step, or for its refusal. A view's texts are made at each look.
    var isSaidOnce = false
    /// What a text that begins with "/" is.
    var texts = Texts.literals

    enum Texts {
        /// A literal: in templates.
        case literals
        /// A path: in guards and in the arguments of functions.
        case paths
        /// A path where its first part is a name that is known, else a literal: in the arguments of functions in which
        /// every text was a literal before.
        case knownPaths
    }

    /// The same place, for values in which such texts are something else.
    func taking(_ texts: Texts) -> DataContext {
        var context = self
        context.texts = texts
        return context
    }

    /// The same place, for what a step, or its refusal, says.
    var saidOnce: DataContext {
        var context = self
        context.isSaidOnce = true
        return context
    }

    enum Event {
        case never
        /// There may be an event, with any data.
        case maybe
        /// There is an event, whose data fits this schema.
        case shaped(JSONDocument)
    }

    /// Where no event has data.
    static let noEvent = DataContext(event: .never)
    /// Where an event may have led.
    static let maybeEvent = DataContext(event: .maybe)
    /// Where an event or the end of a child may have led.
    static let anything = DataContext(event: .maybe, hasOutput: true)
}
