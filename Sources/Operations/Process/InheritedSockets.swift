import Glibc

/// Sockets that listen already, and that the process was given when it was started: sd_listen_fds(3).
///
/// systemd keeps them while no server runs, so that clients wait for the next one and are not refused.
package struct InheritedSockets: Sendable {
    /// No socket, or not this one.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    /// The names of the sockets, in the order of their descriptors; `nil` for one without a name.
    private let names: [String?]
    private static let firstDescriptor: Int32 = 3
    /// More than any unit passes on.
    private static let most = 64

    /// - Parameters:
    ///   - variable: a variable of the environment.
    ///   - process: whom the variables must be for: a child inherits them, but not the sockets.
    package init(process: pid_t = getpid(), variable: (String) -> String?) {
        guard variable("LISTEN_PID") == "\(process)", let count = variable("LISTEN_FDS").flatMap({ Int($0) }),
            (1...Self.most).contains(count)
        else {
            names = []
            return
        }
        let given = variable("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        names = given.count == count ? given.map { String($0) } : Array(repeating: nil, count: count)
    }

    /// Those of this process, which its own children do not get.
    package static let ofProcess: InheritedSockets = {
        let sockets = InheritedSockets { name in getenv(name).map { String(cString: $0) } }
        for place in sockets.names.indices { _ = fcntl(firstDescriptor + Int32(place), F_SETFD, FD_CLOEXEC) }
        return sockets
    }()

    /// The descriptor of the socket with that name. Where only one socket is wanted and there, its name does not
    /// matter.
    ///
    /// - Parameter isOnly: whether the process wants no other socket.
    package func descriptor(named name: String, isOnly: Bool) throws(Missing) -> Int32 {
        let places = names.indices.filter { names[$0] == name || (isOnly && names.count == 1) }
        guard let place = places.first else {
            let others = names.map { $0 ?? "one without a name" }.joined(separator: ", ")
            throw Missing(
                description: names.isEmpty
                    ? "systemd has passed no socket to this process (LISTEN_FDS, LISTEN_PID)"
                    : "systemd has passed no socket named \(name) (FileDescriptorName=\(name)), but \(others)")
        }
        guard places.count == 1 else {
            throw Missing(description: "systemd has passed \(places.count) sockets named \(name); a listener has one")
        }
        return Self.firstDescriptor + Int32(place)
    }
}
