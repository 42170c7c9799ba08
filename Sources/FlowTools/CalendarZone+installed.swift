import Glibc
import JSONDocument

extension CalendarZone {
    /// Where Linux has the IANA time zone database: Debian's package `tzdata`.
    private static let folder = "/usr/share/zoneinfo/"
    /// The largest is some 4 KB.
    private static let maximumSize = 65_536

    /// The zone of a name such as `Europe/Berlin`; nil when there is none. It is read once, when flows are loaded.
    package static func installed(named name: String) -> CalendarZone? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        // No name leads out of the folder.
        let isPlain = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { isLetterOrDigit($0) || "_+-".utf8.contains($0) }
        }
        guard isPlain, name.utf8.count <= 64, let file = fopen(folder + name, "re") else { return nil }
        defer { fclose(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: maximumSize) { buffer, count in
            count = fread(buffer.baseAddress, 1, buffer.count, file)
        }
        return CalendarZone(tzif: bytes)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
