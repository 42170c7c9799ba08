/// A session as the requests of these tests see it: the model to which the server is compared.
struct SessionState: Hashable, Sendable {
    var isEnded = false
    /// The session's revision, or the lowest possible one when requests have no known revision.
    var revision = 0
    /// The step of journey `main`.
    var step = 0
    /// The journey's state: each move leads from `here` to `there` or back.
    var isThere = false
    /// The content of each service, in the order of ``Service``.
    var contents = [Content](repeating: Content(), count: Service.allCases.count)

    /// The services that clients write. Each write has its own number.
    enum Service: Int, CaseIterable, Sendable {
        /// `left` and `right` are written one at a time, and both at once by transactions.
        case left, right
        /// Written only by the journey, with each of its steps.
        case trail
        /// The attached user, written by an admin: `u-` and the number of the write. The session is listed under it.
        case user

        var name: String { "\(self)" }
    }

    struct Content: Hashable, Sendable {
        /// The number of the write; 0 for none.
        var write = 0
        /// The revision of that write; nil when no client learned it.
        var etag: Int?

        /// No tag is higher than its session's revision.
        func canBe(shownAs shown: Content, of revision: Int) -> Bool {
            write == shown.write && (etag == nil || etag == shown.etag) && (shown.etag ?? 0) <= revision
        }
    }

    subscript(service: Service) -> Content {
        get { contents[service.rawValue] }
        set { contents[service.rawValue] = newValue }
    }

    /// Whether a move can lead from this step to that one.
    func canMove(to step: Int) -> Bool { step == self.step + 1 || isRaised(to: step) }

    /// After a possible power cut steps continue far above all that may have been given.
    private func isRaised(to step: Int) -> Bool { step > self.step + 1 << 20 }

    /// Whether a session that the server shows as `shown` can be in this state.
    func canBe(shownAs shown: SessionState) -> Bool {
        guard !isEnded, !shown.isEnded else { return isEnded == shown.isEnded }
        guard revision <= shown.revision, isThere == shown.isThere else { return false }
        guard step == shown.step || isRaised(to: shown.step) else { return false }
        return Service.allCases.allSatisfy { self[$0].canBe(shownAs: shown[$0], of: shown.revision) }
    }
}

extension SessionState: CustomStringConvertible {
    var description: String {
        if isEnded { return "ended" }
        let services = Service.allCases.map { "\($0) \(self[$0].write) (\(self[$0].etag.map { "\"\($0)\"" } ?? "?"))" }
        return "\(services.joined(separator: ", ")), step \(step) \(isThere ? "there" : "here"), revision \(revision)"
    }
}
