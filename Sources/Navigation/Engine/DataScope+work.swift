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
        if element != nil { services.listWork &-= units }
    }

    func spend(on value: JSONDocument) { services.listWork &-= value.weight(atMost: Self.mostWeight) }

    func spend(on finding: Finding) {
        services.listWork &-= 1
        if case .value(let value) = finding { spend(on: value) }
    }

    /// A step can put a list into itself, or a text, again and again.
    func spend(onCopyOf value: JSONDocument) {
        guard value.count > 0 || value.kind == .string else { return }
        services.listWork &-= value.weight(atMost: Self.mostWeight)
    }

    func spend(onText text: String, _ template: ValueTemplate) throws(ValueFailure) {
        services.listWork &-= text.utf8.count / Self.bytesOfTextInUnit
        try checkWork([template])
    }

    /// Only inside of lists: outside a schema is applied once to a document.
    func spend(onSchemaFor document: JSONDocument) {
        if element != nil { services.listWork &-= Self.unitsOfSchema * document.weight(atMost: Self.mostWeight) }
    }

    /// - Parameter templates: where the first path in them is the place to blame.
    func checkWork(_ templates: @autoclosure () -> [ValueTemplate]) throws(ValueFailure) {
        guard services.listWork < 0 else { return }
        throw undecided(
            templates(),
            "takes more work than one step may do; its lists are too long, or too many are inside of each other")
    }
}
