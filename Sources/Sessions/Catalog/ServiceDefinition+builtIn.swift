extension ServiceDefinition {
    /// The services of every installation. A new one is a file of its own and its name here.
    package static let builtIn: [ServiceDefinition] = [
        ProfileService.definition(ProfileService.key),
        ProfileService.definition(ProfileService.temporaryKey),
        QuoteService.definition,
        UserService.definition,
        CoordinatorService.definition,
    ]
}
