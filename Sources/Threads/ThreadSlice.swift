import CThreads

/// For how long the kernel lets a thread run before others that want its processor.
package enum ThreadSlice {
    /// For a thread that serves many clients: it runs as soon as it wakes, and briefly.
    package static func makeBrief() { cthreads_set_slice(100_000) }

    /// For a thread that parses a large body or validates a large document: a brief one takes the processor from it.
    package static func makeLong() { cthreads_set_slice(100_000_000) }
}
