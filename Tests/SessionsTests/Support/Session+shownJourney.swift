@testable import Sessions

extension Session {
    /// As a request has it, whose path lies in memory.
    func shownJourney(_ id: String) -> JourneyText? { Array(id.utf8).withUnsafeBytes { shownJourney($0) } }
}
