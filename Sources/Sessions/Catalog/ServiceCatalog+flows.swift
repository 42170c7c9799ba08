import Navigation

extension ServiceCatalog {
    /// The services that flows are checked against. The coordinator is left out: a flow that read the journeys would
    /// read itself.
    package var directory: ServiceDirectory {
        ServiceDirectory(services.filter { $0.name != CoordinatorService.name }.map(\.entry))
    }
}

extension ServiceDefinition {
    /// What flows are checked against.
    package var entry: ServiceDirectory.Entry {
        .init(
            name: name, schema: schema, isReadOnly: !isOpenToFlows, isOwnable: isOwnable,
            commands: commands.map {
                .init(name: $0.name, input: $0.input, output: $0.output ?? false, waits: $0.waits)
            })
    }
}
