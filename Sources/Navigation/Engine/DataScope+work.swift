import JSONDocument

/// The budget of a step: no flow makes it run for long, whatever lists there are.
///
/// A unit is some 50 ns. Looking at an element is one; inside of a list function, so is each value in what is read, and
/// each 32 bytes of a text. What a function makes of its arguments, and what it takes longer for, is added.
extension DataScope {
    static let workOfText = 3
    static let workOfTime = 20
    static let workOfPath = 30
    static let workOfPart = 2
    static let workOfReason = 50
    static let bytesOfTextInUnit = 256
    static let unitsOfSchema = 16
    /// Letters of some languages take long to find in the other case.
    static let bytesOfCaseInUnit = 2
    /// More than any budget.
    static let mostWeight = 1_000_000

    /// What it takes to read a value as a number, or to compare it: texts may be times, and doubles are decimals.
    static func workOfReading(_ value: JSONDocument) -> Int {
        switch value.kind {
        case .string: 12
        case .double: 8
        default: 2
        }
    }

    /// Only inside of lists: what stands outside is done once.
    func spend(_ units: Int) {
        if element != nil { services.work.rest &-= units }
    }

    func spend(on value: JSONDocument) { services.work.rest &-= value.weight(atMost: Self.mostWeight) }

    func spend(on finding: Finding) {
        services.work.rest &-= 1
        if case .value(let value) = finding { spend(on: value) }
    }

    /// A step can put a list into itself, or a text, again and again.
    func spend(onCopyOf value: JSONDocument) {
        guard value.count > 0 || value.kind == .string else { return }
        services.work.rest &-= value.weight(atMost: Self.mostWeight)
    }

    func spend(onText text: String, _ template: ValueTemplate) throws(ValueFailure) {
        services.work.rest &-= text.utf8.count / Self.bytesOfTextInUnit
        try checkWork([template])
    }

    /// Only inside of lists: outside a schema is applied once to a document.
    func spend(onSchemaFor document: JSONDocument) {
        if element != nil { services.work.rest &-= Self.unitsOfSchema * document.weight(atMost: Self.mostWeight) }
    }

    /// - Parameter templates: where the first path in them is the place to blame.
    func checkWork(_ templates: @autoclosure () -> [ValueTemplate]) throws(ValueFailure) {
        guard services.work.rest < 0 else { return }
        throw .undecided(services.noteOverwork(at: place(of: templates())))
    }
}

/// How much work lists may still make: for what a step does, and apart from that for the questions where the journey
/// may be and what may be sent, so that no action decides them.
struct ListWork {
    /// Negative when it was too much. See ``DataScope/spend(_:)``.
    var rest = Self.most
    /// What is left for all questions that are asked apart.
    private(set) var reserve = 2 * Self.most
    /// Whether less was left for the question than one may take.
    private(set) var isShort = false

    /// Some 5 ms of work on a slow machine: a step that looks at 20,000 elements.
    static let most = 100_000

    /// What is left for another that goes on with the rest.
    var left: Int { rest &- (2 * Self.most - reserve) }

    /// Enough for what a list of actions does outside of lists.
    private static let least = 2_000

    /// Whether hardly any of it was used.
    var isFresh: Bool { rest > Self.most - Self.least && reserve > 2 * Self.most - Self.least }

    /// Goes on after something that was undone, because it took too much or failed: what comes next is still done.
    mutating func recover() { rest = max(rest, Self.least) }

    /// Takes a share of the reserve for a question.
    fileprivate mutating func share() {
        rest = min(Self.most, reserve)
        isShort = rest < Self.most
        reserve -= rest
    }

    /// Goes on as before a question, which returns what it did not need.
    fileprivate mutating func goOn(as former: ListWork) {
        reserve += max(0, rest)
        (rest, isShort) = (former.rest, former.isShort)
    }
}

/// That something took more work than there was. Its result means nothing: it neither holds nor fails.
struct Overwork: Equatable {
    let reason: JSONViolation
    /// Whether there was less than a question may take, because others had been asked before.
    let isShort: Bool
}

extension StepServices {
    /// - Returns: the reason.
    @discardableResult
    func noteOverwork(at place: String) -> JSONViolation {
        let reason = JSONViolation(
            pointer: place,
            detail: "takes more work than one step may do; its lists are too long, or too many are inside of each other"
        )
        if overwork == nil { overwork = Overwork(reason: reason, isShort: work.isShort) }
        return reason
    }

    /// Asks a question with a budget of its own.
    func apart<Result, Failure: Error>(_ ask: () throws(Failure) -> Result) throws(Failure) -> Result {
        let former = work
        work.share()
        defer { work.goOn(as: former) }
        return try ask()
    }

    /// Forgets what takes too much work while something is looked for that decides nothing.
    func withoutOverwork<Result, Failure: Error>(_ look: () throws(Failure) -> Result) throws(Failure) -> Result {
        let former = overwork
        defer { overwork = former }
        return try look()
    }
}
