import JSONDocument
import Testing

@Suite("Durations as text")
struct ConfigurationDurationTests {
    @Test(
        "Short and ISO 8601 forms are read",
        arguments: [
            ("250ms", 250), ("90s", 90_000), ("30m", 1_800_000), ("12h", 43_200_000), ("7d", 604_800_000), ("0s", 0),
            ("007s", 7000), ("PT30M", 1_800_000), ("PT1H30M", 5_400_000), ("P7D", 604_800_000), ("P2W", 1_209_600_000),
            ("P1DT12H", 129_600_000), ("PT0.25S", 250), ("PT1,5S", 1500), ("PT1.005S", 1005), ("PT0S", 0),
        ])
    func good(text: String, milliseconds: Int) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(
        "Anything else is not a duration",
        arguments: [
            "", "s", "10", "10 s", " 10s", "10s ", "1.5h", "-1s", "+1s", "10S", "10sec", "1h30m", "٣s", "1us",
            "P", "PT", "P1", "PT1", "P1Y", "P1M", "P1H", "PT1D", "PT1M1H", "PT1M1M", "P1DT", "pt1m", "PT.5S", "PT1.S",
            "PT1.0005S", "PT0.5M", "PT-1S", "P-1D", "PTT1S", "P1.5D", "PT1.2.3S",
            "9223372036854775807d", "99999999999999999999s", "PT9223372036854775807H", "P106751991167DT24H1S",
        ])
    func bad(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        "What is written is short, and reads back the same",
        arguments: [
            (0, "0s"), (1, "1ms"), (1500, "1500ms"), (60_000, "60s"), (90_000, "90s"), (120_000, "2m"),
            (3_600_000, "1h"), (5_400_000, "90m"), (86_400_000, "24h"), (172_800_000, "2d"),
        ])
    func format(milliseconds: Int, text: String) {
        #expect(DurationText.format(.milliseconds(milliseconds)) == text)
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }
}
