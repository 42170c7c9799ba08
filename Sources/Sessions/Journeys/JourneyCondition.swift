/// At which step of a journey something may be done to it (RFC 9110 section 13.1). The entity tag of a journey is its
/// step, which is a revision of its own and reads like one.
package struct JourneyCondition: Sendable, Equatable {
    /// `If-Match`; nil when there is none.
    package var ifMatch: Match?
    /// `If-None-Match: *`: there is no such journey yet.
    package var onlyIfMissing: Bool

    package enum Match: Sendable, Equatable {
        /// `*`: the journey is there.
        case any
        /// The journey stands at one of these. An empty list, of tags that no journey ever had, never matches.
        case steps([UInt64])
    }

    package init(ifMatch: Match? = nil, onlyIfMissing: Bool = false) {
        self.ifMatch = ifMatch
        self.onlyIfMissing = onlyIfMissing
    }

    package static let none = JourneyCondition()

    package static func ifMatch(_ step: UInt64) -> Self { .init(ifMatch: .steps([step])) }

    /// - Parameter step: where the journey stands; nil when there is none.
    func holds(at step: UInt64?) -> Bool {
        if onlyIfMissing, step != nil { return false }
        switch ifMatch {
        case nil: return true
        case .any: return step != nil
        case .steps(let steps): return step.map(steps.contains) ?? false
        }
    }
}

extension JourneyCondition {
    /// The same header fields, as they are read for services: both have a number for an entity tag.
    package init(_ condition: ServiceCondition) {
        let match: Match? =
            switch condition.ifMatch {
            case nil: nil
            case .any: .any
            case .oneOf(let etags): .steps(etags.map(\.revision))
            }
        self.init(ifMatch: match, onlyIfMissing: condition.onlyIfUnwritten)
    }
}
