import Glibc

/// Where a database is, or is to be: whether it can be there, and the making of its place.
package struct StorePlace {
    private let path: String

    package init(_ path: String) { self.path = path }

    /// What is in the way of using it, found without making or changing anything; nil when nothing is.
    ///
    /// Not for a file that this process has open: to close a file gives up all locks that the process has on it.
    package var problem: StoreOpeningError? {
        problemOfDirectory ?? problemOfFile ?? problemOfLog ?? problemOfContent
    }

    /// A log without its database: SQLite would delete it.
    var problemOfLog: StoreOpeningError? {
        var (database, log) = (stat(), stat())
        // Its header alone has nothing in it.
        guard stat(path + "-wal", &log) == 0, log.st_size > 32, stat(path, &database) != 0 || database.st_size == 0
        else { return nil }
        return unusable(
            "the database is missing or empty, and \(path)-wal beside it has writes that belong to it: put the database "
                + "back; or move both away to begin anew, or to restore a backup")
    }

    /// Makes the directory when it is not there, for this user alone: there will be people's data in it.
    func makeDirectory() throws(StoreOpeningError) {
        if let problem = problemOfDirectory ?? problemOfFile { throw problem }
        guard mkdir(directory, 0o700) != 0 else {
            // The directory has to be there after a power cut, as has what it will hold.
            return sync(Self.directory(of: directory))
        }
        let code = errno
        guard code == EEXIST else { throw unusable("\(directory) cannot be made (\(Self.text(code))): \(Self.advice)") }
    }

    // MARK: What is in the way

    private var problemOfDirectory: StoreOpeningError? {
        switch Self.kind(of: directory) {
        case .success(S_IFDIR): return problemOfWriting(to: directory)
        case .success: return unusable("\(directory) is no directory: name another file")
        case .failure(let failure) where failure.code == ENOENT:
            let parent = Self.directory(of: directory)
            guard case .success(S_IFDIR) = Self.kind(of: parent) else {
                return unusable("neither \(directory) nor \(parent) exists: make it, or name another file")
            }
            return problemOfWriting(to: parent)
        case .failure(let failure): return unusable("\(directory): \(Self.text(failure.code)): \(Self.advice)")
        }
    }

    private var problemOfFile: StoreOpeningError? {
        if let problemOfKind { return problemOfKind }
        guard case .success = Self.kind(of: path) else { return nil }
        return problemOfWriting(to: path)
    }

    /// What is there and can be no database, whoever opens it. Not asked before opening it, some of it would be waited
    /// for, or change something.
    var problemOfKind: StoreOpeningError? {
        switch Self.kind(of: path) {
        case .success(S_IFREG): nil
        case .success(S_IFDIR): unusable("it is a directory: \(adviceInDirectory)")
        case .success: unusable("it is no ordinary file: name another one")
        case .failure: path.last == "/" ? unusable("this is the name of a directory: \(adviceInDirectory)") : nil
        }
    }

    private var adviceInDirectory: String {
        let stem = path[...(path.lastIndex { $0 != "/" } ?? path.startIndex)]
        return "name a file in it, such as \(stem == "/" ? "" : stem)/concierge.db"
    }

    /// What an operator has to be told before the program would find it out while it starts. Not asked there: SQLite
    /// knows of its log, which may say otherwise.
    private var problemOfContent: StoreOpeningError? {
        guard let header, !header.isEmpty else { return nil }
        // https://www.sqlite.org/fileformat2.html#the_database_header
        guard header.count == 105, header.starts(with: "SQLite format 3\0".utf8) else {
            return unusable("it is no SQLite database: name another file")
        }
        func number(at place: Int) -> Int64 { header[place..<place + 4].reduce(0) { $0 << 8 | Int64($1) } }
        let isEmpty = header[103] == 0 && header[104] == 0
        guard number(at: 68) == SQLiteSchema.applicationID else { return isEmpty ? nil : .foreign(path) }
        let (version, known) = (Int(number(at: 60)), Int(SQLiteSchema.version))
        return version > known ? .newer(path, version: version, known: known) : nil
    }

    /// The header of the database and that of its first page: fewer bytes when there are not as many, nil when there is
    /// no file.
    private var header: [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 105)
        return Array(bytes[..<max(0, read(descriptor, &bytes, bytes.count))])
    }

    private func problemOfWriting(to place: String) -> StoreOpeningError? {
        guard access(place, place == path ? R_OK | W_OK : W_OK | X_OK) != 0 else { return nil }
        return switch errno {
        case EROFS: unusable("\(place) is on a read-only file system: \(Self.advice)")
        default: unusable("user \(getuid()) may not write to \(place): give it the right to, or name another file")
        }
    }

    // MARK: Parts

    private var directory: String { Self.directory(of: path) }

    /// `.` for a name alone.
    private static func directory(of path: String) -> String {
        let name = path.last == "/" ? path.dropLast() : path[...]
        guard let slash = name.lastIndex(of: "/") else { return "." }
        return slash == name.startIndex ? "/" : String(name[..<slash])
    }

    private struct Failure: Error { let code: Int32 }

    private static func kind(of path: String) -> Result<mode_t, Failure> {
        var status = stat()
        return stat(path, &status) == 0 ? .success(status.st_mode & S_IFMT) : .failure(Failure(code: errno))
    }

    private func sync(_ directory: String) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func unusable(_ reason: String) -> StoreOpeningError { .unusable(path, reason: reason) }

    static let advice = "make it writable, or name another file"
    private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
