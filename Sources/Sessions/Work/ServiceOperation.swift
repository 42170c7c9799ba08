import JSONDocument

/// One thing to do with one service, by itself or as a part of a transaction.
package struct ServiceOperation: Sendable {
    package enum Action: Sendable {
        /// Replaces the state.
        case put(JSONDocument)
        /// RFC 7396.
        case mergePatch(JSONDocument)
        /// RFC 6902.
        case jsonPatch(JSONDocument)
        /// Puts the living instance back to its default, which is a write. Does nothing when none lives.
        case clear
        /// The instance leaves; the next access makes a clean one. Does nothing when none lives.
        case remove
    }

    package let service: RegisteredService
    package let action: Action
    package let condition: ServiceCondition

    package init(_ action: Action, on service: RegisteredService, condition: ServiceCondition = .none) {
        self.action = action
        self.service = service
        self.condition = condition
    }

    /// What the service is like afterwards.
    package struct Outcome: Sendable {
        package let service: RegisteredService
        package let etag: ServiceETag
        /// The state as it goes out; the default when no instance lives.
        package let bytes: [UInt8]
    }
}

/// Who does something: what the public may only read, a trusted back end writes.
package enum ServiceCaller: Sendable {
    case client, admin
}

/// On which state of a service an operation may be done (RFC 9110 section 13.1).
package struct ServiceCondition: Sendable, Equatable {
    /// `If-Match`; nil when there is none.
    package var ifMatch: Match?
    /// `If-None-Match: *`: nothing was written yet.
    package var onlyIfUnwritten: Bool

    package enum Match: Sendable, Equatable {
        /// `*`: the service has a state, which every registered one always has.
        case any
        /// One of these. An empty list, of tags that no service ever had, never matches.
        case oneOf([ServiceETag])
    }

    package init(ifMatch: Match? = nil, onlyIfUnwritten: Bool = false) {
        self.ifMatch = ifMatch
        self.onlyIfUnwritten = onlyIfUnwritten
    }

    package static let none = ServiceCondition()

    package static func ifMatch(_ etag: ServiceETag) -> Self { .init(ifMatch: .oneOf([etag])) }

    var isEmpty: Bool { ifMatch == nil && !onlyIfUnwritten }

    func holds(for etag: ServiceETag) -> Bool {
        if onlyIfUnwritten, etag != .unwritten { return false }
        guard case .oneOf(let etags) = ifMatch else { return true }
        return etags.contains(etag)
    }
}
