import Glibc
import Support
import Testing

/// strace(1) around the program: makes system calls fail or kill it, and records them.
///
/// With `-D` the program itself is our child, which can be killed and awaited as usual. Calls are counted for each
/// thread.
enum Strace {
    static let missing: Comment = "strace is not installed, or may not trace here: scripts/setup test installs it"

    /// Found out once, with a program that does nothing. Where `CI` is set a missing strace fails the tests. A machine
    /// that does not allow tracing, such as a sandbox, skips them.
    static let isUsable: Bool = {
        let status = system("strace -f --seccomp-bpf -e trace=fdatasync -o /dev/null true >/dev/null 2>&1")
        return status == 0 || (isNotFound(status) && getenv("CI") != nil)
    }()

    /// The shell's status for an unknown command.
    private static func isNotFound(_ status: Int32) -> Bool { status >> 8 & 0xFF == 127 }

    /// The `number`th call kills the program before it takes effect. Without `--seccomp-bpf`, whose stops lose a
    /// signal.
    static func killing(at call: String, _ number: Int) -> [String] {
        slowCommand + ["-e", "trace=\(call)", "-e", "inject=\(call):signal=SIGKILL:when=\(number)", "-o", "/dev/null"]
    }

    /// The `number`th call fails, and later calls do not.
    ///
    /// - Parameter count: how many calls fail, one after the other.
    static func failing(_ call: String, _ number: Int, count: Int = 1) -> [String] {
        let when = count == 1 ? "\(number)" : "\(number)..\(number + count - 1)"
        return command + ["-e", "trace=\(call)", "-e", "inject=\(call):error=EIO:when=\(when)", "-o", "/dev/null"]
    }

    /// A sync of the program's writer fails, and others do not.
    static func failSync(_ number: Int, of process: ProgramProcess) throws {
        try inject("fdatasync:error=EIO:when=\(number)", into: "store writer", of: process)
    }

    /// The program's writer makes so many calls from now on, the last of which does not take effect.
    static func kill(_ process: ProgramProcess, at call: String, _ number: Int) throws {
        try inject("\(call):signal=SIGKILL:when=\(number)", into: "store writer", of: process)
    }

    /// The next time that the first worker of the public listener receives, it takes two minutes.
    static func holdUpWorker(of process: ProgramProcess) throws {
        try inject("recvfrom:delay_enter=120s:when=1", into: "worker 0", of: process)
    }

    private static func inject(_ fault: String, into name: String, of process: ProgramProcess) throws {
        let tasks = "/proc/\(process.identifier)/task"
        let found = try FileBytes.names(in: tasks).first {
            (try? FileBytes.read("\(tasks)/\($0)/comm")) == Array("\(name)\n".utf8)
        }
        let thread = try #require(found)
        let options = "-e trace=\(fault.prefix { $0 != ":" }) -e inject=\(fault) -o /dev/null"
        // Strace stays in the background. It reports on standard error that it has attached.
        try #require(system("{ strace -p \(thread) \(options) 2>&1 >/dev/null & } | grep -q attached") == 0)
    }

    /// Records these calls in a file, each with its time in seconds and the paths of its files.
    /// - Parameter failing: makes one more fail, as ``failing(_:_:)`` does.
    static func recording(
        _ calls: [String], to path: String, failing: (call: String, number: Int)? = nil
    ) -> [String] {
        let injection = failing.map { ["-e", "inject=\($0.call):error=EIO:when=\($0.number)"] } ?? []
        return command + injection + [
            "-ttt", "-y", "-s", "200", "-e", "trace=\(calls.joined(separator: ","))", "-o", path,
        ]
    }

    // The search for leaks stops a process as strace does, and cannot where that has.
    private static let slowCommand = ["/usr/bin/strace", "-D", "-f", "-E", "LSAN_OPTIONS=detect_leaks=0"]
    /// Stops only at the calls that are traced.
    private static let command = slowCommand + ["--seccomp-bpf"]
}
