import Operations

extension Application {
    /// Tells a manager that has a watchdog, twice in its interval, that the workers respond. It ends the process when
    /// it does not hear that, and starts another one.
    package nonisolated func reassure(_ manager: ServiceManager) async {
        guard let interval = manager.watchdogInterval else { return }
        var isTold = false
        while !Task.isCancelled {
            if let blocked = readiness.blockedFor {
                if !isTold {
                    log.write(.error, "watchdog_not_told") {
                        $0.add("detail", "A worker has been busy with one request for \(blocked.components.seconds) s.")
                    }
                }
                isTold = true
            } else {
                manager.tell(.working)
                isTold = false
            }
            try? await Task.sleep(for: interval / 2)
        }
    }
}
