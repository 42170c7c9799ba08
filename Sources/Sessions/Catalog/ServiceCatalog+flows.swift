import Navigation

extension ServiceCatalog {
    /// The services that flows are checked against. The coordinator is left out: a flow that read the journeys would
    /// read itself.
    package var directory: ServiceDirectory {
        ServiceDirectory(
            services.filter { $0.name != CoordinatorService.key.name }.map {
                .init(
                    name: $0.name, schema: $0.schema.document, isReadOnly: !$0.isOpenToFlows,
                    isOwnable: $0.isOwnable,
                    commands: $0.commands.map {
                        .init(
                            name: $0.name, input: $0.input?.document, output: $0.output ?? false, waits: $0.isWaiting)
                    })
            })
    }
}
