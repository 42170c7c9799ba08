import Glibc

/// Tells a file from every other file, whatever its names are.
package struct FileIdentity: Hashable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    /// Nil when there is no such file or this process may not look.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }

    /// An opaque text that differs for any other file, also for a file on another machine that may be a copy of this
    /// one. It changes when the machine restarts.
    package var text: String {
        "\(Self.bootID)-\(String(device, radix: 16))-\(String(inode, radix: 16))"
    }

    /// A number for the time since the machine was started; 0 when it is unknown.
    static let boot = bootID.utf8.reduce(Int64(0)) { ($0 &* 31 &+ Int64($1)) & .max }

    /// random(4): generated at boot.
    private static let bootID: String = {
        var bytes = [UInt8](repeating: 0, count: 36)
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        return String(decoding: bytes[..<max(0, read(descriptor, &bytes, bytes.count))], as: UTF8.self)
    }()
}
