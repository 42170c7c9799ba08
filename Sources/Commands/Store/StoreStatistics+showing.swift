import JSONDocument
import SQLiteStorage

extension StoreStatistics {
    /// For people.
    func text(of path: String) -> String {
        var lines = [
            ("file", "\(path), \(fileBytes.inBinaryUnits)"),
            ("log", logBytes.inBinaryUnits),
            (
                "pages",
                "\(pages) of \(pageBytes) bytes, \(freePages) of them free, with\(hasPageChecksums ? "" : "out") checksums"
            ),
            ("vacuum", isIncremental ? "while the server runs" : "only while no server runs"),
            ("tables", "version \(schemaVersion)"),
            ("sessions", "\(sessions), \(sessionsOfUsers) of them with a user"),
        ]
        if sealed > 0 { lines.append(("encrypted", "\(sealed) of \(services.reduce(0) { $0 + $1.count }) services")) }
        if let oldest, let newest, let lastUsed {
            lines.append(("oldest", Self.time(oldest)))
            lines.append(("newest", Self.time(newest)))
            lines.append(("last use", Self.time(lastUsed)))
            lines.append(("each", "\(bytesPerSession) bytes of the pages in use"))
        }
        for service in services {
            lines.append(
                (
                    "service",
                    "\(service.name): \(service.count), \(service.bytes.inBinaryUnits), "
                        + "the largest \(service.largest) bytes"
                ))
        }
        return lines.map { name, value in
            name + String(repeating: " ", count: 10 - name.count) + value + "\n"
        }.joined()
    }

    /// For programs.
    func json(of path: String) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("file", path)
        let numbers: [(String, Int)] = [
            ("file_bytes", fileBytes), ("log_bytes", logBytes), ("page_bytes", pageBytes), ("pages", pages),
            ("free_pages", freePages), ("schema_version", schemaVersion), ("sessions", sessions),
            ("sessions_of_users", sessionsOfUsers), ("encrypted_services", sealed), ("tombstones", 0),
            ("bytes_per_session", bytesPerSession),
        ]
        for (name, number) in numbers {
            json.name(name)
            json.int(number)
        }
        json.member("incremental_vacuum", isIncremental)
        json.member("page_checksums", hasPageChecksums)
        for (name, time) in [("oldest", oldest), ("newest", newest), ("last_use", lastUsed)] {
            json.name(name)
            if let time { json.string(Self.time(time)) } else { json.null() }
        }
        json.object("services") { json in
            for service in services {
                json.name(service.name)
                json.object { json in
                    json.member("count", service.count)
                    json.member("bytes", service.bytes)
                    json.member("largest", service.largest)
                }
            }
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }

    private static func time(_ milliseconds: Int64) -> String {
        Timestamp(millisecondsSince1970: milliseconds).description
    }
}

extension Int {
    /// A number of bytes for people: `12.3 MiB`.
    var inBinaryUnits: String {
        var tenths = self * 10
        var unit = "bytes"
        for larger in ["KiB", "MiB", "GiB", "TiB"] where tenths >= 10_240 {
            tenths /= 1_024
            unit = larger
        }
        return unit == "bytes" ? "\(self) bytes" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
