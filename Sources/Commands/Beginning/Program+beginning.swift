import Configuration
import Glibc
import Operations

extension Program {
    /// Writes the files of a first application, unless one of them is there.
    static func begin(in directory: String?, _ files: FileReader, _ output: ProgramOutput) throws -> Int32 {
        let directory = directory ?? ""
        let path = { (name: String) in files.path(of: PathText.join(directory, name)) }
        if let name = (FirstFiles.all.map(\.name) + FirstFiles.folders).first(where: { access(path($0), F_OK) == 0 }) {
            throw CommandFailure("\(PathText.join(directory, name)) is there already, and nothing was written")
        }
        for folder in (directory.isEmpty ? [] : [""]) + FirstFiles.folders {
            guard mkdir(path(folder), 0o777) == 0 || errno == EEXIST else {
                throw CommandFailure.ofFile(PathText.join(directory, folder))
            }
        }
        for file in FirstFiles.all {
            try NewFile.write(Array(file.text.utf8), to: path(file.name), permissions: 0o666)
            output.result("\(PathText.join(directory, file.name))\n")
        }
        let steps = [
            ("check", "finds mistakes in these files"), ("test", "runs the script of the flow"),
            ("dev", "serves the flow, and takes in changes of these files"),
        ]
        output.result("\nGo on with\n\n" + (directory.isEmpty ? "" : "  cd \(directory)\n"))
        for (command, meaning) in steps {
            output.result("  concierge \(command)\(String(repeating: " ", count: 8 - command.count))# \(meaning)\n")
        }
        return ExitStatus.success
    }
}

/// A file that is made whole, and replaces none.
enum NewFile {
    static func write(_ bytes: [UInt8], to path: String, permissions: mode_t) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, permissions)
        guard descriptor >= 0 else { throw .ofFile(path) }
        let isWritten = bytes.withUnsafeBytes { ArchiveExport.write($0, to: descriptor) }
        let failure = CommandFailure.ofFile(path)
        guard close(descriptor) == 0, isWritten else {
            unlink(path)
            throw failure
        }
    }
}
