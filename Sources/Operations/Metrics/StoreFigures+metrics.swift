import Sessions

extension StoreFigures {
    package func write(to metrics: inout OpenMetricsWriter) {
        metrics.gauge("concierge_store_queue", help: "Writes that wait for the store's writer.", queue)
        metrics.counter("concierge_store_writes", help: "Writes that the store has committed.", writes)
        metrics.family(
            "concierge_store_commit_seconds", .histogram, unit: "seconds",
            help: "Time of a transaction with its sync. Writes that wait together share one.")
        metrics.histogram(
            "concierge_store_commit_seconds", [], bounds: DurationCounts.bounds.map { Double($0) / 1e9 },
            counts: commits.counts, sum: Double(commits.sum) / 1e9)
        metrics.gauge(
            "concierge_store_log_bytes", unit: "bytes",
            help: "Length of the log of writes that are not in the store's file yet.", logBytes)
        metrics.gauge("concierge_store_file_bytes", unit: "bytes", help: "Length of the store's file.", fileBytes)
        metrics.gauge(
            "concierge_store_free_bytes", unit: "bytes", help: "What of the store's file holds nothing.", freeBytes)
        metrics.gauge(
            "concierge_store_disk_full",
            help: "1 while the disk is full, so that the store writes only what makes room.", isDiskFull ? 1 : 0)
        guard let disk else { return }
        metrics.gauge(
            "concierge_store_disk_bytes", unit: "bytes", help: "Size of the file system of the store's file.",
            disk.bytes)
        metrics.gauge(
            "concierge_store_disk_free_bytes", unit: "bytes", help: "What is free of it for the server.", disk.free)
    }
}
