import Glibc

/// The bug that the program is to have in this run: `scripts/prove-durability` builds a program with bugs planted in
/// it, and shows that these tests find each. In a normal build the program has none, and this is without effect.
enum PlantedBug {
    static let variable = "PLANTED_BUG"

    /// For a program that is started by a test.
    static var environment: [String: String] {
        guard let bug = getenv(variable) else { return [:] }
        return [variable: String(cString: bug)]
    }
}
