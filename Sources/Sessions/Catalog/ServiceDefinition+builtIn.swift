extension ServiceDefinition {
    /// The services of every installation. A new one is a file of its own and its name here.
    package static let builtIn: [ServiceDefinition] = [
        ServiceDefinition(builtIn: ProfileService.self, completesFromDefault: true),
        ServiceDefinition(builtIn: ProfileService.self, named: "temporary-profile", completesFromDefault: true),
        ServiceDefinition(builtIn: QuoteService.self),
        ServiceDefinition(builtIn: UserService.self),
        CoordinatorService.definition,
    ]
}
