/// Looks at flows together: the ways through each, and what they say of one another.
struct CatalogCheck {
    let catalog: FlowCatalog
    /// The ids of all flows that were found, also of those in which something is wrong.
    let known: Set<String>

    func problems(of loaded: LoadedFlow) -> [FlowProblem] { [] }
}
