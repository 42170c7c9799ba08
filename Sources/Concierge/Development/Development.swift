import Commands
import ConciergeApp
import Configuration
import Navigation
import Operations
import Sessions
import Synchronization

/// `concierge dev`: a server that takes over files as an editor saves them, and starts the journeys over whose flows
/// have changed.
final class Development: Sendable {
    private let loaded: LoadedConfiguration
    private let output: ProgramOutput
    private let script: Mutex<TaskScript>
    private let watched = Mutex<Set<String>>([])

    private init(_ loaded: LoadedConfiguration, _ script: TaskScript, _ output: ProgramOutput) {
        self.loaded = loaded
        self.script = Mutex(script)
        self.output = output
    }

    /// Serves until SIGTERM or SIGINT, and returns the exit status of the process.
    static func run(
        _ loaded: LoadedConfiguration, _ script: TaskScript, _ output: ProgramOutput = .standard
    ) async -> Int32 {
        do {
            let development = Development(try loaded.forDevelopment(), script, output)
            return await Application.run(development.loaded) { application, addresses in
                await development.run(application, addresses)
            }
        } catch {
            output.complaint("concierge: \(error)\n")
            return ExitStatus.usage
        }
    }

    private func run(_ application: Application, _ addresses: Application.Addresses) async {
        let scheme = loaded.configuration.tls.certificate == nil ? "http" : "https"
        output.result("demo     \(scheme)://127.0.0.1:\(addresses.publicPort)/demo\n")
        output.result("console  \(scheme)://127.0.0.1:\(addresses.adminPort)/console\n")
        guard let watch = FileWatch() else {
            return output.complaint("concierge: this system watches no more files (fs.inotify.max_user_instances)\n")
        }
        _ = self.watch(loaded.configuration, by: watch)
        output.result("watching \(loaded.file ?? "no configuration file"), services and flows\n")
        let names = script.withLock(\.names)
        let keyboard = names.isEmpty ? TaskKeyboard(output) : nil
        await withDiscardingTaskGroup { group in
            for name in names {
                group.addTask { [self] in
                    await application.endTasks(named: name, again: false) { [self] _ in
                        script.withLock { $0.end(of: name) }.map { TaskReport(outcome: $0.outcome, output: $0.output) }
                    } note: { [output] in
                        output.result("\($0)\n")
                    }
                }
            }
            var asked: Set<String> = []
            /// Also about tasks that a saved flow has brought.
            func askForTasks() async {
                guard let keyboard else { return }
                for name in await application.tasks.keys where asked.insert(name).inserted {
                    group.addTask { [output] in
                        await application.endTasks(named: name, again: true) { input in
                            await keyboard.end(of: name, input, await application.tasks[name] ?? [])
                        } note: {
                            output.result("\($0)\n")
                        }
                    }
                }
            }
            await askForTasks()
            for await _ in watch.saves {
                await takeOver(application, watch)
                await askForTasks()
            }
            group.cancelAll()
        }
    }

    /// The directories of the files: an editor may replace a file by another one of its name.
    ///
    /// - Returns: whether one of them was not watched before: files in it may have been saved meanwhile.
    private func watch(_ configuration: Configuration, by watch: FileWatch) -> Bool {
        let file = loaded.file ?? ConfigurationLoader.defaultFile
        let directory = PathText.directory(of: file)
        // Those beside the file may come later.
        let beside = ["services", "flows"].map { PathText.join(directory, $0) }
        let directories = [directory] + beside + [configuration.services, configuration.flows].compactMap(\.self)
        return directories.reduce(false) { isNew, directory in
            guard watch.watch(directory) else { return isNew }
            return watched.withLock { $0.insert(directory).inserted } || isNew
        }
    }

    private func takeOver(_ application: Application, _ watch: FileWatch) async {
        _ = self.watch(await application.configurationInForce, by: watch)
        do {
            let reload = try await application.reload(isOfAuthor: true)
            let isIncomplete = self.watch(await application.configurationInForce, by: watch)
            defer { if isIncomplete { watch.look() } }
            for warning in reload.warnings { output.complaint("\(warning)\n") }
            guard reload.hasChanged else { return }
            let flows = reload.flows.added + reload.flows.changed + reload.flows.removed
            let (count, refused) = flows.isEmpty ? (0, []) : try await application.startOver(Set(flows.map(\.flow)))
            output.result(
                "taken over: \(reload.summary)"
                    + (count > 0 ? "; started over: \(String(counting: count, "journey"))\n" : "\n"))
            for sentence in refused { output.complaint("\(sentence)\n") }
        } catch {
            output.complaint("\(error)\n")
        }
    }
}
