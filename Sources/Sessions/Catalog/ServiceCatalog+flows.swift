import Navigation

extension ServiceCatalog {
    /// What flows can be checked against. The coordinator is not among it: a flow that looked at the journeys would
    /// look at itself.
    package var directory: ServiceDirectory {
        ServiceDirectory(
            services.filter { $0.name != CoordinatorService.key.name }.map {
                // The built-in services are the session's.
                .init(
                    name: $0.name, schema: $0.schema.document, isReadOnly: !$0.isOpenToFlows,
                    isOwnable: $0.kind == "document")
            })
    }
}
