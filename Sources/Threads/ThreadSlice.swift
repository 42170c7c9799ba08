import CThreads

/// For how long the kernel lets a thread run before others.
package enum ThreadSlice {
    /// Makes the calling thread one that runs as soon as it wakes, and briefly, because it serves many clients: without
    /// this, a worker sometimes waited for a whole slice of a thread that parsed a large body.
    package static func makeBrief() { cthreads_set_slice(100_000) }
}
