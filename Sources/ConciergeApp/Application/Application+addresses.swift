import Configuration
import HTTPServer
import Operations

extension Application {
    /// The socket of a listener whose host is `systemd`; nil for others.
    func inheritedSocket(_ name: String) throws -> Int32? {
        let inherited = [("public", configuration.host), ("admin", configuration.admin.host)].filter {
            $0.1 == ListenAddress.inherited
        }
        guard inherited.contains(where: { $0.0 == name }) else { return nil }
        return try sockets.descriptor(named: name, isOnly: inherited.count == 1)
    }

    /// The address as a client on this machine writes it; of a socket in the file system `unix:PATH`.
    func address(of server: HTTPServer, at host: String) -> String {
        let written = "\(host.contains(":") ? "[\(host)]" : host):\(server.port)"
        let place = ListenAddress.hasPort(host) ? written : server.address
        if ListenAddress.path(place) != nil { return place }
        return "\(configuration.tls.certificate == nil ? "http" : "https")://\(place)"
    }
}
