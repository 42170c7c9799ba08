/// The name and version of this program, for `concierge version`, `GET /version` and logs.
package enum BuildInformation {
    package static let name = "concierge"
    package static let version = "0.3.0"
}

/// The exit status of the program.
package enum ExitStatus {
    package static let success: Int32 = 0
    package static let failure: Int32 = 1
    /// Wrong usage or configuration: trying again without a change does not help.
    package static let usage: Int32 = 2
}
