import Glibc

/// Calls `use` with the address of a socket in the file system; a path that is too long is cut.
public func withSocketAddress<Result>(_ path: String, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in
        room.copyBytes(from: Array(path.utf8.prefix(room.count - 1)))
    }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { use($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
}
