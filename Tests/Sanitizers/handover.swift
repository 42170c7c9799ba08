// Shows that ThreadSanitizer, with the libraries of `scripts/sanitize`, sees what a continuation hands over from one
// thread to another and takes it for an order, and that it still reports two threads without one.
import Glibc

@main
enum HandOver {
    final class Box: @unchecked Sendable { var value = 0 }

    final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(Work(body)).toOpaque())
        pthread_detach(thread)
    }

    static func main() async throws {
        let races = CommandLine.arguments.contains("race")
        var sum = 0
        for round in 0..<300 {
            // The thread resumes before, while and after the task suspends.
            let box: Box
            switch round % 3 {
            case 0:
                box = await withCheckedContinuation { waiting in
                    start { waiting.resume(returning: made(round, races)) }
                    spin(round)
                }
            case 1:
                box = try await withCheckedThrowingContinuation { waiting in
                    start { waiting.resume(returning: made(round, races)) }
                    spin(round)
                }
            default:
                box = await withUnsafeContinuation { waiting in
                    start { waiting.resume(returning: made(round, races)) }
                    spin(round)
                }
            }
            box.value += 1
            sum += box.value
        }
        print(sum)
    }

    static func made(_ round: Int, _ races: Bool) -> Box {
        let box = Box()
        box.value = round
        if races { start { box.value = -1 } }
        return box
    }

    static func spin(_ round: Int) {
        for _ in 0..<(round * 2) { sched_yield() }
    }
}
