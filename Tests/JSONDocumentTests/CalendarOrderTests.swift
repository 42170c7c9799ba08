import Testing

@testable import JSONDocument

@Suite("Times are compared as times")
struct CalendarOrderTests {
    @Test(
        "one is before the other",
        arguments: [
            ("2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00Z"),
            ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00.0001Z"),
            ("2026-01-01T10:00:00.99999999999999999998Z", "2026-01-01T10:00:00.99999999999999999999Z"),
            ("2025-12-31T23:30:00-01:00", "2026-01-01T00:30:01Z"), ("2026-01-31", "2026-02-01"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:01Z"), ("0000-01-01T00:00:00+23:59", "0000-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59-00:01"), ("2016-12-31T23:59:59.999Z", "2016-12-31T23:59:60Z"),
            ("2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00Z"), ("2016-12-31T23:59:60Z", "2016-12-31T23:59:60.01Z"),
            ("2025-12-31", "2026-01-01T00:30:00Z"), ("2026-01-01T00:30:00+01:00", "2026-01-01"),
        ])
    func before(one: String, other: String) throws {
        let (one, other) = (try #require(CalendarTime(one)), try #require(CalendarTime(other)))
        #expect(CalendarTime.order(one, other) < 0)
        #expect(CalendarTime.order(other, one) > 0)
    }

    @Test(
        "both are one",
        arguments: [
            ("2026-01-01T12:00:00+02:00", "2026-01-01T10:00:00Z"), ("2026-01-01t10:00:00z", "2026-01-01T10:00:00.000Z"),
            ("2026-01-01T10:00:00-00:00", "2026-01-01T10:00:00+00:00"),
            ("2026-01-01T10:00:00.1Z", "2026-01-01T10:00:00.1000000000Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T15:59:60-08:00"), ("2026-01-01", "2026-01-01T23:59:59Z"),
            ("2026-01-01", "2026-01-02T00:30:00+01:00"), ("2016-12-31", "2016-12-31T23:59:60Z"),
        ])
    func same(one: String, other: String) throws {
        let (one, other) = (try #require(CalendarTime(one)), try #require(CalendarTime(other)))
        #expect(CalendarTime.order(one, other) == 0)
        #expect(CalendarTime.order(other, one) == 0)
    }

    @Test(
        "whole days from one to the other",
        arguments: [
            ("2026-01-01", "2026-03-01", 59), ("2024-02-01", "2024-03-01", 29), ("2026-03-01", "2026-01-01", -59),
            ("2026-01-01T12:00:00Z", "2026-01-02T11:59:59Z", 0), ("2026-01-01T12:00:00Z", "2026-01-02T12:00:00Z", 1),
            ("2026-01-02T11:59:59Z", "2026-01-01T12:00:00Z", 0), ("2026-01-01T23:00:00Z", "2026-01-02", 1),
            ("2026-01-01T23:00:00-02:00", "2026-01-02", 0),
            ("2026-01-01T12:00:00.00001Z", "2026-01-02T12:00:00Z", 0),
        ] as [(String, String, Int)])
    func days(from: String, to: String, days: Int) throws {
        #expect(try #require(CalendarTime(from)).days(to: try #require(CalendarTime(to))) == days)
    }

    @Test("a second that was never inserted is none", arguments: ["2026-01-01T10:00:60Z", "2016-12-31T23:59:60-08:00"])
    func noLeapSecond(text: String) { #expect(CalendarTime(text) == nil) }
}
