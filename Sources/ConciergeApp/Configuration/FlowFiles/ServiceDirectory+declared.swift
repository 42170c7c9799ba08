import JSONDocument
import Navigation
import Sessions

extension Navigation.ServiceDirectory {
    /// The services that sessions of this configuration have: what flows are checked against.
    ///
    /// - Parameter names: further ones, whose files have mistakes: a flow that names one of them is not to blame.
    package static func declared(by files: [ServiceFile], alsoNamed names: [String] = []) -> Navigation.ServiceDirectory
    {
        let builtIn = ServiceDefinition.builtIn.map { service in
            Entry(name: service.name, schema: service.schema, isReadOnly: !service.isOpenToFlows)
        }
        let declared = files.map { Entry(name: $0.name, schema: $0.schemaDocument) }
        let known = Set(files.map(\.name))
        let broken = names.filter { !known.contains($0) }.map { Entry(name: $0) }
        return Navigation.ServiceDirectory(builtIn + declared + broken)
    }
}
