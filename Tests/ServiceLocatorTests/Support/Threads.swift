import Foundation

/// Runs the body on that many threads of its own at once, and waits for all without blocking the test's thread.
///
/// Real threads, since factories block: tasks on two cores would hardly ever meet.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            group.addTask {
                await withCheckedContinuation { continuation in
                    let thread = Thread {
                        body(number)
                        continuation.resume()
                    }
                    thread.start()
                }
            }
        }
    }
}

/// Lets another thread run, to make it likely that threads meet. Nothing depends on it.
func giveWay() {
    sched_yield()
}
