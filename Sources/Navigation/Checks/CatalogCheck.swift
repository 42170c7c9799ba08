import JSONDocument

/// Looks at flows when all are read: the ways through each, and what they say of one another.
struct CatalogCheck {
    let catalog: FlowCatalog
    /// Ids, versions and files of all flows that were found, also of those with so much wrong that they are not in the
    /// catalog.
    let known: [String: [Int: String]]

    func problems(of loaded: LoadedFlow) -> [FlowProblem] {
        var check = FlowCheck(file: loaded.file, flow: loaded.flow, catalog: catalog, known: known)
        check.checkChildren()
        check.checkMigrations()
        check.checkTransitions()
        // Ways through a flow in which something is wrong already would only say that again in other words.
        if loaded.isWhole { check.checkWays() }
        return check.problems
    }
}

/// Looks at one flow among the others.
struct FlowCheck {
    let file: String
    let flow: FlowDefinition
    let catalog: FlowCatalog
    let known: [String: [Int: String]]
    private(set) var problems: [FlowProblem] = []

    init(file: String, flow: FlowDefinition, catalog: FlowCatalog, known: [String: [Int: String]]) {
        self.file = file
        self.flow = flow
        self.catalog = catalog
        self.known = known
    }

    mutating func report(
        _ place: [String], _ code: FlowProblemCode, _ message: String, guess: String? = nil,
        severity: FlowProblem.Severity? = nil
    ) {
        problems.append(
            FlowProblem(
                file: file, pointer: JSONPointer(place).description, code: code, message: message, guess: guess,
                severity: severity))
    }
}
