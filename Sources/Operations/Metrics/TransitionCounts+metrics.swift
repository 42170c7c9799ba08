import Sessions

extension TransitionCounts {
    package func write(to metrics: inout OpenMetricsWriter) {
        let name = "concierge_transitions"
        metrics.family(
            name, .counter,
            help: "Steps that have led journeys from one screen or task of a flow to another. A journey starts from "
                + "(start) and ends at (finished) or (expired).")
        for (flow, from, to, count) in all {
            let labels = [("flow", flow), ("from", from ?? "(start)"), ("to", to)]
            metrics.sample(name + "_total", labels, Double(count))
        }
    }
}
