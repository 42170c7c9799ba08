import JSONDocument
import Testing

@Suite("Calendar times and durations")
struct CalendarTests {
    @Test(
        "what is no date and time of RFC 3339 is none",
        arguments: [
            "2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "2026-01-01T24:00:00Z", "2026-01-01T10:00Z",
            "2026-01-01T10:00:00", "2026-01-01T10:00:00.Z", "2026-01-01T10:00:00+2:00", "2026-01-01T10:00:00Zx", "",
            "now",
            "2026-01-01 10:00:00Z",
        ])
    func noTimes(text: String) { #expect(CalendarTime(text) == nil) }

    @Test(
        "others are the same moment in UTC",
        arguments: [
            ("2024-02-29", "2024-02-29"), ("2026-01-01t10:00:00z", "2026-01-01T10:00:00.000Z"),
            ("2026-01-01T00:30:00-01:30", "2026-01-01T02:00:00.000Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
            ("2026-01-01T10:00:00.123456789Z", "2026-01-01T10:00:00.123Z"),
        ])
    func times(text: String, utc: String) { #expect(CalendarTime(text)?.text == utc) }

    @Test(
        "a sign and years are read, and what is no duration is not",
        arguments: [
            ("P18Y", 216, 0, 0), ("-P1Y2M3W4DT5H", -14, -25, -18_000_000), ("+P1D", 0, 1, 0),
            ("-30m", 0, 0, -1_800_000),
            ("PT0.25S", 0, 0, 250),
        ] as [(String, Int64, Int64, Int64)])
    func durations(text: String, months: Int64, days: Int64, milliseconds: Int64) {
        let duration = CalendarDuration(signed: text)
        #expect(duration?.months == months && duration?.days == days && duration?.milliseconds == milliseconds)
    }

    @Test(
        "others are no durations",
        arguments: ["P", "PT", "P1", "1Y", "P1DT", "P1H", "PT1Y", "P1M1Y", "P1.5Y", "--P1D", "P9223372036854775807Y"])
    func noDurations(text: String) { #expect(CalendarDuration(signed: text) == nil) }
}
