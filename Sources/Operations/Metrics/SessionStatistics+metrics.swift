import Sessions

extension SessionStatistics {
    package func write(to metrics: inout OpenMetricsWriter) {
        metrics.gauge("concierge_sessions_resident", help: "Sessions in memory.", live)
        metrics.gauge(
            "concierge_sessions_stored",
            help: "Sessions in the store, including expired ones that are not deleted yet.", stored)
        metrics.gauge("concierge_sessions_allowed", help: "Sessions that may be stored.", allowed)
        metrics.gauge(
            "concierge_sessions_resident_bytes", unit: "bytes",
            help: "Bytes of the states and labels of the sessions in memory.", residentBytes)
        if let bytes {
            metrics.gauge(
                "concierge_sessions_stored_bytes", unit: "bytes",
                help: "Bytes of the states and labels of all sessions.", bytes.stored)
            metrics.gauge(
                "concierge_sessions_allowed_bytes", unit: "bytes", help: "Bytes that all sessions may have.",
                bytes.allowed)
        }
        metrics.counter("concierge_sessions_started", help: "Sessions created.", created)
        metrics.counter(
            "concierge_sessions_ended",
            help: "Sessions ended for any reason. In a store on disk, an expired session counts when it is deleted.",
            ended)
        metrics.counter(
            "concierge_sessions_shed",
            help: "Sessions ended for new ones at the limit: never used, or idle and without a user.", shed)
        metrics.counter(
            "concierge_sessions_stolen", help: "Sessions ended because a replaced token was used.", stolen)
        metrics.gauge(
            "concierge_sessions_kept",
            help: "Expired sessions that stay for work of their journeys. Of a store on disk or Redis, as of the last "
                + "round through it; servers that share Redis each count a part.", kept)
        metrics.counter(
            "concierge_due", help: "Sessions looked at because time does something to a journey.", due)
        metrics.gauge(
            "concierge_due_lag_seconds", unit: "seconds",
            help: "By how much the oldest due session was late when this server looked last.", Double(dueLag) / 1_000)
        counts.write(to: &metrics)
        metrics.counter(
            "concierge_tasks_held",
            help: "Results of tasks that flows could not take, and that are kept for an operator.", tasksHeld)
        metrics.counter(
            "concierge_tasks_given_up",
            help: "Tasks for which no journey waits that were not done: no attempt or time was left.", tasksUndone)
        metrics.gauge(
            "concierge_watchers", help: "Streams of events, and requests that wait for a change.", watchers)
        metrics.gauge(
            "concierge_services_live", help: "Services in memory, by name.",
            by: "service", services.map { ($0.name, $0.live) })
        metrics.counter("concierge_store_damaged_rows", help: "Damaged rows read.", damage.rows)
        metrics.counter("concierge_store_damaged_pages", help: "Damaged pages read.", damage.pages)
    }
}

extension StoreCounts {
    fileprivate func write(to metrics: inout OpenMetricsWriter) {
        metrics.gauge("concierge_journeys_live", help: "Journeys of all sessions that are not over.", running)
        metrics.family("concierge_journeys", .gauge, help: "Journeys of all sessions, by where they stand.")
        let byStanding = Dictionary(
            places.map { ([$0.key.flow, $0.key.state, $0.key.standing.rawValue], $0.value) }, uniquingKeysWith: +)
        for (place, count) in byStanding.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            metrics.sample(
                "concierge_journeys", [("flow", place[0]), ("state", place[1]), ("status", place[2])], Double(count))
        }
        let tasks = tasks.sorted { $0.key < $1.key }
        metrics.family("concierge_tasks", .gauge, help: "Tasks that are not over, by name and status.")
        for (name, tasks) in tasks {
            for status in TaskStatus.allCases {
                metrics.sample(
                    "concierge_tasks", [("task", name), ("status", status.rawValue)],
                    Double(tasks.byStatus[status] ?? 0))
            }
        }
        metrics.family(
            "concierge_tasks_age_seconds", .gauge, unit: "seconds", help: "Age of the oldest task of each name.")
        for (name, tasks) in tasks {
            metrics.sample("concierge_tasks_age_seconds", [("task", name)], Double(countedAt - tasks.oldest) / 1_000)
        }
    }
}
