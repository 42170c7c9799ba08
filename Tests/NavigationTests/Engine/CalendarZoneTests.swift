import FlowTools
import Glibc
import JSONDocument
import Testing

/// Days by the clocks of places. What is expected comes from another reader of the same database.
@Suite("Time zones")
struct CalendarZoneTests {
    @Test(
        "the day of a moment is that of the place: around changes of its clocks, before the first and after the last in its file",
        arguments: [
            ("Europe/Berlin", "2026-03-28T23:30:00Z", "2026-03-29"),
            ("Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29"),
            ("Europe/Berlin", "2026-10-24T22:30:00Z", "2026-10-25"),
            ("Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-25"),
            ("Europe/Berlin", "2026-10-25T23:00:00Z", "2026-10-26"),
            ("Europe/Berlin", "2150-07-01T22:00:00Z", "2150-07-02"),
            ("Europe/Berlin", "2150-12-31T22:59:00Z", "2150-12-31"),
            ("Europe/Berlin", "1880-01-01T23:30:00Z", "1880-01-02"),
            ("Europe/Berlin", "1945-05-24T00:00:00Z", "1945-05-24"),
            ("America/New_York", "2026-11-01T03:59:59Z", "2026-10-31"),
            ("America/New_York", "2026-11-01T04:00:00Z", "2026-11-01"),
            ("America/New_York", "2026-11-02T04:59:59Z", "2026-11-01"),
            ("America/New_York", "2099-07-04T03:59:00Z", "2099-07-03"),
            ("Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29"),
            ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"),
            ("Asia/Kathmandu", "2026-01-01T18:14:59Z", "2026-01-01"),
            ("Asia/Kathmandu", "2026-01-01T18:15:00Z", "2026-01-02"),
            ("Australia/Lord_Howe", "2026-01-01T12:59:59Z", "2026-01-01"),
            ("Australia/Lord_Howe", "2026-01-01T13:00:00Z", "2026-01-02"),
            ("Australia/Lord_Howe", "2026-07-01T13:29:59Z", "2026-07-01"),
            ("Australia/Lord_Howe", "2090-01-01T13:00:00Z", "2090-01-02"),
            ("Africa/Casablanca", "2026-01-01T22:59:59Z", "2026-01-01"),
            ("Africa/Casablanca", "2026-01-01T23:00:00Z", "2026-01-02"),
            ("Africa/Casablanca", "2200-06-01T23:00:00Z", "2200-06-02"),
            ("Europe/Dublin", "2060-01-01T23:59:00Z", "2060-01-01"),
            ("Europe/Dublin", "2060-07-01T23:00:00Z", "2060-07-02"),
            ("America/Sao_Paulo", "2018-12-01T01:59:59Z", "2018-11-30"),
            ("America/Sao_Paulo", "2026-12-01T02:59:59Z", "2026-11-30"),
            ("Asia/Tehran", "2050-07-01T20:29:59Z", "2050-07-01"),
            ("Asia/Tehran", "2050-07-01T20:30:00Z", "2050-07-02"),
            ("UTC", "2026-01-01T00:00:00Z", "2026-01-01"),
            ("Etc/GMT+12", "2026-01-01T11:59:59Z", "2025-12-31"),
        ])
    func days(name: String, moment: String, day: String) throws {
        let zone = try #require(CalendarZone.installed(named: name), "the package tzdata is not installed")
        #expect(try #require(CalendarTime(moment)).day(in: zone)?.text == day)
    }

    @Test("a day is the same day everywhere")
    func day() throws {
        let zone = try #require(CalendarZone.installed(named: "Asia/Tokyo"))
        #expect(CalendarTime("2026-01-31")?.day(in: zone)?.text == "2026-01-31")
    }

    @Test(
        "no other name is one, and none leads out of the database's folder",
        arguments: [
            "", "Europe/Nowhere", "/etc/passwd", "../../../etc/passwd", "Europe/../Europe/Berlin", "Europe", "Europe/",
            "tzdata.zi", "zone.tab", "right/Europe/Berlin", "Europe/Berlin\0", "Europe//Berlin",
        ])
    func names(name: String) { #expect(CalendarZone.installed(named: name) == nil) }

    private func file() throws -> [UInt8] {
        let file = try #require(fopen("/usr/share/zoneinfo/Europe/Berlin", "re"))
        defer { fclose(file) }
        return [UInt8](unsafeUninitializedCapacity: 65_536) { $1 = fread($0.baseAddress, 1, $0.count, file) }
    }

    @Test("a file that is cut off anywhere is none")
    func truncated() throws {
        let bytes = try file()
        #expect(CalendarZone(tzif: bytes) != nil)
        for count in 0..<bytes.count { #expect(CalendarZone(tzif: Array(bytes.prefix(count))) == nil) }
    }

    @Test("a damaged file stops nothing")
    func damaged() throws {
        let bytes = try file()
        for place in bytes.indices {
            for value: UInt8 in [0, 0x7F, 0xFF] {
                var damaged = bytes
                damaged[place] = value
                let zone = CalendarZone(tzif: damaged)
                for moment in [Int64.min / 2_000, -1, 0, 1 << 33, Int64.max / 2_000] { _ = zone?.offset(at: moment) }
            }
        }
    }
}
