import HTTPServer
import Synchronization

/// Remembers what a server answered.
final class Recorder: HTTPServerObserver {
    private let answers = Mutex<[(target: String, status: Int, duration: Duration)]>([])
    private let problems = Mutex<[String]>([])

    func answered(_ request: HTTPRequest, with response: borrowing HTTPResponse, after nanoseconds: UInt64) {
        let status = Int(response.status.code)
        answers.withLock { $0.append((request.target, status, .nanoseconds(Int64(nanoseconds)))) }
    }

    func failed(_ request: HTTPRequest, _ problem: any Error) {
        problems.withLock { $0.append("\(problem)") }
    }

    var targets: [String] { answers.withLock { $0.map(\.target) } }
    var statuses: [Int] { answers.withLock { $0.map(\.status) } }
    var durations: [Duration] { answers.withLock { $0.map(\.duration) } }
    var failures: [String] { problems.withLock { $0 } }
}
