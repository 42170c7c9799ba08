/// What this program is, for `concierge version`, `GET /version` and logs.
package enum BuildInformation {
    package static let name = "concierge"
    package static let version = "0.1.0"
}
