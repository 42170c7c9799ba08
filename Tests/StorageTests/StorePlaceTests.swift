import Glibc
import SQLiteStorage
import Sessions
import Storage
import Testing

@Suite("The place of a database")
struct StorePlaceTests {
    /// The obstacle, as a part of its sentence; nil when there is none.
    static let places: [(path: String, says: String?)] = [
        ("new.db", nil), ("data/new.db", nil), ("a/b/new.db", "neither F/a/b nor F/a exists"),
        ("folder", "it is a directory: name a file in it, such as F/folder/concierge.db."),
        ("folder//", "it is a directory: name a file in it, such as F/folder/concierge.db."),
        ("missing/", "this is the name of a directory: name a file in it, such as F/missing/concierge.db."),
        ("text", "it is not an SQLite database: name another file"),
        ("text/new.db", "F/text is not a directory"), ("empty", "it is empty, and a database never is"),
        ("pipe", "it is not an ordinary file"),
    ]

    @Test("an obstacle is described in a sentence, and the check makes no file", arguments: places)
    func problem(path: String, says: String?) throws {
        let file = try SQLiteFile()
        let things = ["folder", "text", "empty", "pipe"].map { "\(file.folder)/\($0)" }
        #expect(mkdir(things[0], 0o700) == 0 && mkfifo(things[3], 0o600) == 0)
        try Self.write("not a database", to: things[1])
        try Self.write("", to: things[2])
        defer {
            rmdir(things[0])
            for thing in things { unlink(thing) }
        }
        let place = "\(file.folder)/\(path)"
        let problem = StorePlace(place).problem?.description
        if let says {
            let sentence = try #require(problem)
            #expect(sentence.hasPrefix("\(place) cannot be used as a store: ") && sentence.hasSuffix("."))
            #expect(
                sentence.contains(
                    says.split(separator: "F", omittingEmptySubsequences: false).joined(separator: file.folder)))
            #expect(throws: StoreOpeningError.self) {
                try SQLiteStore(path: place, services: [])
            }
        } else {
            #expect(problem == nil)
        }
        #expect(access("\(file.folder)/new.db", F_OK) != 0 && access("\(file.folder)/data", F_OK) != 0)
    }

    @Test(
        "the maintenance commands refuse paths that are not files, and wait for none",
        arguments: ["/dev/null", "/dev/full", "/", "/tmp/", "F/pipe", "F/missing/"])
    func maintenance(place: String) throws {
        let file = try SQLiteFile()
        let pipe = "\(file.folder)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        let path = place.replacing("F", with: file.folder)
        func isSaid(_ error: any Error) -> Bool {
            let sentence = "\(error)"
            return sentence.hasPrefix("\(path) cannot be used as a store: ") && sentence.contains("name a")
                || sentence.hasPrefix("\(path) does not exist")
        }
        #expect { try StoreVacuum(path) } throws: { isSaid($0) }
        #expect { try StoreStatistics(path) } throws: { isSaid($0) }
        #expect { try StoreBackup(of: path, to: file.path, replaces: true) } throws: { isSaid($0) }
        #expect { try StoreCheck.run(path) { _ in } } throws: { isSaid($0) }
        #expect(access(file.path, F_OK) != 0)
    }

    @Test("a missing directory is made for its user alone, like the files in it")
    func making() async throws {
        let file = try SQLiteFile()
        let folder = "\(file.folder)/data"
        let path = "\(folder)/concierge.db"
        defer {
            for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
            rmdir(folder)
        }
        let store = try SQLiteStore(path: path, services: [])
        try await store.create(Samples.session())
        #expect(try Self.permissions(of: folder) == 0o700)
        for ending in ["", "-wal", "-shm"] {
            #expect(try Self.permissions(of: path + ending) == 0o600, "\(ending)")
        }
        await store.close()
        #expect(StorePlace(path).problem == nil)
    }

    @Test("a database of another program, or of a newer version, is noticed before a start")
    func others() async throws {
        let file = try SQLiteFile()
        await (try file.store()).close()
        #expect(StorePlace(file.path).problem == nil)
        // https://www.sqlite.org/fileformat2.html#the_database_header: the version of the tables, and whose they are.
        try Self.change(file.path, at: 60, to: [0, 0, 0, 99])
        guard case .otherVersion(_, version: 99, known: _, isUpgraded: false) = StorePlace(file.path).problem else {
            return #expect(Bool(false), "\(String(describing: StorePlace(file.path).problem))")
        }
        try Self.change(file.path, at: 68, to: [1, 2, 3, 4])
        #expect(StorePlace(file.path).problem == .foreign(file.path))
    }

    private static func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }

    private static func change(_ path: String, at place: off_t, to bytes: [UInt8]) throws {
        let descriptor = open(path, O_WRONLY)
        defer { close(descriptor) }
        try #require(pwrite(descriptor, bytes, bytes.count, place) == bytes.count)
    }

    private static func permissions(of path: String) throws -> mode_t {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mode & 0o777
    }
}
