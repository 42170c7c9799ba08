import Configuration
import Operations
import Sessions

/// A language in which `concierge types` writes.
package enum ClientLanguage: String, CaseIterable {
    /// TypeScript, for `clients/js`.
    case ts
    /// For `ConciergeClient`.
    case swift
}

extension Program {
    /// Writes types of what is loaded to standard output.
    static func types(_ language: ClientLanguage, _ loaded: LoadedConfiguration, _ output: ProgramOutput) throws
        -> Int32
    {
        let types = ClientTypes(try loaded.catalog(), loaded.flows)
        switch language {
        case .ts: output.result(TypeScriptTypes.text(of: types))
        case .swift: output.result(SwiftTypes.text(of: types))
        }
        return ExitStatus.success
    }
}
