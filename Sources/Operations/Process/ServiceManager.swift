import Glibc

/// What started the process and wants to hear of its state: systemd, or another that does as sd_notify(3) says. Without
/// one nothing is sent.
package struct ServiceManager: Sendable {
    /// How often it must hear that the process works; `nil` when it does not ask for that (sd_watchdog_enabled(3)).
    package let watchdogInterval: Duration?
    /// Where its datagram socket is: a path, or a name in the abstract namespace, after `@`.
    private let address: String?

    /// What the manager is told.
    package enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case working = "WATCHDOG=1"
    }

    /// - Parameters:
    ///   - process: whom the watchdog must be for: a child inherits the variables.
    ///   - variable: a variable of the environment.
    package init(process: pid_t = getpid(), variable: (String) -> String?) {
        address = variable("NOTIFY_SOCKET").flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let isForThis = variable("WATCHDOG_PID").map { $0 == "\(process)" } ?? true
        let microseconds = variable("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        watchdogInterval = isForThis && address != nil && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// That of this process.
    package static var ofProcess: ServiceManager { ServiceManager { name in getenv(name).map { String(cString: $0) } } }

    /// Sends the state. A manager that does not read keeps the caller for a second at most.
    package func tell(_ state: State) {
        guard let address else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(address.utf8)
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + bytes.count } ?? 0
        guard bytes.count < MemoryLayout.size(ofValue: name.sun_path) else { return }
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let text = Array(state.rawValue.utf8)
        withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
    }
}
