import Glibc
import Testing

/// Terminals that tests give to programs.
package enum Terminals {
    /// Whether there can be any: a bare root without `/dev/pts` has none.
    package static let arePossible: Bool = {
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        return descriptor >= 0 && close(descriptor) == 0
    }()

    package static let missing: Comment = "SKIPPED: no /dev/pts, so there is no terminal"
}
