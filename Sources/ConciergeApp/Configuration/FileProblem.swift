import Glibc

/// Why a file could not be read, as a sentence in our own words.
package struct FileProblem: Error, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        case missing
        case notPermitted
        case isDirectory
        case notADirectory
        case notAFile
        case tooLarge(Int)
        case other(Int32)
    }

    package let path: String
    package let reason: Reason

    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }

    init(path: String, errno code: Int32) {
        let reason: Reason
        switch code {
        case ENOENT: reason = .missing
        case EACCES, EPERM: reason = .notPermitted
        case EISDIR: reason = .isDirectory
        case ENOTDIR: reason = .notADirectory
        default: reason = .other(code)
        }
        self.init(path: path, reason: reason)
    }

    /// The stable name of the reason in a line of `concierge check`.
    package var code: String {
        switch reason {
        case .missing: "missing_file"
        case .notPermitted, .other: "unreadable_file"
        case .isDirectory, .notADirectory, .notAFile: "wrong_file_kind"
        case .tooLarge: "file_too_large"
        }
    }

    package var description: String {
        switch reason {
        case .missing: "\(path) does not exist"
        case .notPermitted: "\(path) may not be read by this user"
        case .isDirectory: "\(path) is a directory, not a file"
        case .notADirectory: "\(path) is not a directory, or something on its way is not one"
        case .notAFile: "\(path) is not an ordinary file"
        case .tooLarge(let limit): "\(path) is larger than \(limit) bytes"
        case .other(let code): "\(path) could not be read (system error \(code))"
        }
    }
}
