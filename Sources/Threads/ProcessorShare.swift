import CThreads

/// How a thread shares a processor with others that want it.
package enum ProcessorShare {
    /// It runs as soon as it wakes, and briefly: for a thread that serves many clients.
    case brief
    /// It runs when those do not, and has a quarter of the time when they always do: for work that takes long.
    case long

    /// Sets it for the calling thread.
    package func take() {
        switch self {
        case .brief: cthreads_share_processor(0, 100_000)
        case .long: cthreads_share_processor(5, 100_000_000)
        }
    }
}
