import Glibc

/// The planted bug of this run. `scripts/prove-durability` builds a program with the bugs of the folder `PlantedBugs`, and
/// shows that these tests find each. The program that is shipped has none, and ignores this.
enum PlantedBug {
    static let variable = "PLANTED_BUG"

    /// The environment for a program that a test starts.
    static var environment: [String: String] {
        guard let bug = getenv(variable) else { return [:] }
        return [variable: String(cString: bug)]
    }
}
