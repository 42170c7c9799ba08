/// Journeys in the store need flows, or states of flows, that are not loaded.
package struct OrphanedJourneysError: Error, CustomStringConvertible {
    /// - count: how many journeys; one that runs the version more than once counts as often.
    package let versions: [(flow: String, version: Int, count: Int)]

    package var description: String {
        let needs = versions.map { needed in
            "\(needed.count) journey\(needed.count == 1 ? " needs" : "s need") version \(needed.version) of flow "
                + "\(needed.flow)"
        }
        return "\(needs.joined(separator: ", ")), and what they stand on is not loaded: load it, add a migration from "
            + "it, or set orphaned_journeys to restart."
    }
}
