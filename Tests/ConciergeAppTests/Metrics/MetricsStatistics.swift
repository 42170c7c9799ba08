@testable import Sessions

extension SessionStatistics {
    static var none: Self { of(live: 0, created: 0, ended: 0, services: []) }

    static func of(
        live: Int, stored: Int = 0, allowed: Int = 0, created: Int, ended: Int, services: [(String, Int)]
    ) -> Self {
        SessionStatistics(
            live: live, stored: stored, allowed: allowed, created: created, ended: ended, journeys: 0, watchers: 0,
            services: services.map { .init(name: $0.0, live: $0.1) })
    }
}
