import Commands
import ConciergeApp
import Configuration
import Glibc
import Operations
import Sessions
import Threads

extension Program {
    /// Runs the program with the arguments, environment and streams of this process, and ends the process with its exit
    /// status.
    ///
    /// It is not an asynchronous `main`: that would leave the main thread to the dispatch library, which unblocks all
    /// signals there, and SIGTERM would end the process in the middle of its responses.
    static func main(adding added: SwiftServices) -> Never {
        AddressSpace.checkForProgram()
        TerminationSignals.block()
        Task.detached {
            let arguments = Array(CommandLine.arguments.dropFirst())
            let status = await run(
                arguments: arguments, environment: environmentOfProcess(), adding: added,
                develop: { loaded, script in await Development.run(loaded, script) },
                serve: { loaded in await Application.run(loaded) })
            DetachedThread.waitForEnds(atMost: .seconds(1))
            exit(status)
        }
        // This thread has nothing left to do. With the signals blocked, `pause` does not return.
        while true { pause() }
    }

    private static func environmentOfProcess() -> [String: String] {
        var variables: [String: String] = [:]
        // `environ` is NULL-terminated, and nothing in this program changes it.
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }
}

extension Application {
    /// Serves until SIGTERM or SIGINT, and returns the exit status of the process.
    ///
    /// - Parameter work: what is done meanwhile; it is cancelled at the end.
    package static func run(
        _ loaded: LoadedConfiguration, beside work: (@Sendable (Application, Addresses) async -> Void)? = nil
    ) async -> Int32 {
        let output = ProgramOutput.standard
        let configuration = loaded.configuration
        if let shortage = AddressSpace.shortage(forWorkers: configuration.workers) {
            output.complaint("concierge: \(shortage)\n")
            return ExitStatus.failure
        }
        CoreDump.forbid()
        let log = Log(settings: configuration.log)
        for problem in loaded.problems where problem.severity == .warning {
            log.write(.warning, "configuration") { $0.add("detail", "\(problem)") }
        }
        let connections = configuration.limits.connections + configuration.admin.connections
        if let shortage = DescriptorLimit.raise(for: connections) {
            log.write(.warning, "descriptor_limit") { $0.add("detail", shortage) }
        }
        let application: Application
        let addresses: Addresses
        do {
            application = try Application(
                configuration, services: loaded.services, adding: loaded.added, flows: loaded.flows, log: log,
                again: loaded.again)
            addresses = try await application.start()
        } catch {
            log.flush()
            output.complaint("concierge: \(error)\n")
            return ExitStatus.failure
        }
        let manager = ServiceManager.ofProcess
        manager.tell(.ready)
        let watchdog = Task { await application.reassure(manager) }
        let (hangUps, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let besides = work.map { work in Task { await work(application, addresses) } }
        let reloader = Task { for await _ in hangUps { await application.hangUp() } }
        let hangUp: @Sendable () -> Void = { _ = continuation.yield(()) }
        await TerminationSignals.first(
            // What an author started in a terminal ends with it.
            reload: work == nil ? hangUp : nil,
            ignoring: { signal in
                log.write(.info, "signal_ignored") { $0.add("detail", "\(signal) has no effect.") }
            })
        manager.tell(.stopping)
        besides?.cancel()
        // A handler that does not return cannot be stopped. What it has not written was not acknowledged.
        let limit = Task {
            try await Task.sleep(for: configuration.drainTimeout + .seconds(5))
            log.write(.error, "stop_overdue") { $0.add("detail", "A request is still being handled.") }
            log.flush()
            _exit(ExitStatus.failure)
        }
        continuation.finish()
        await reloader.value
        await application.stop { limit.cancel() }
        watchdog.cancel()
        return ExitStatus.success
    }
}
