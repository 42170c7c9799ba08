/// How the program ends, as the shell sees it.
package enum ExitStatus {
    package static let success: Int32 = 0
    package static let failure: Int32 = 1
    /// Wrong usage or configuration: trying again without a change is of no use.
    package static let usage: Int32 = 2
}
