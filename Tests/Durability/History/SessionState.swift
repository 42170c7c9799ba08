/// What a session is as far as the requests of these tests can tell: the model that the server is held against.
struct SessionState: Hashable, Sendable {
    var isEnded = false
    /// The session's revision, or the least that it can be when requests have no known revision.
    var revision = 0
    /// The step of journey `main`.
    var step = 0
    /// The journey's state: each move leads from `here` to `there` or back.
    var isThere = false
    /// What is in each service, in the order of ``Service``.
    var contents = [Content](repeating: Content(), count: Service.allCases.count)

    /// The services that are written to. Each write has a number that no other has.
    enum Service: Int, CaseIterable, Sendable {
        /// `left` and `right` are written by themselves, and both at once by transactions.
        case left, right
        /// Written by the journey alone, with each of its steps.
        case trail
        /// The attached user, written by an admin: `u-` and the number of the write. By it the session is found.
        case user

        var name: String { "\(self)" }
    }

    struct Content: Hashable, Sendable {
        /// The number of the write; 0 for none.
        var write = 0
        /// The revision of that write; nil when nobody was told.
        var etag: Int?

        /// No tag is newer than its session.
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

    /// After a power cut, or what may have been one, steps go on far above all that can have been given.
    private func isRaised(to step: Int) -> Bool { step > self.step + 1 << 20 }

    /// Whether a session that the server shows as `shown` can be this one.
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
