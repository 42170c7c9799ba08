import Configuration
import JSONDocument
import Support
import Testing

@testable import ConciergeApp
@testable import Operations

@Suite("Lines of the log")
struct LoggingLineTests {
    @Test("A line is one JSON object with the time, the level, the event and its fields, in that order")
    func members() throws {
        let file = try LogFile()
        file.log.write(.info, "listening") { line in
            line.add("public", "http://127.0.0.1:8080")
            line.add("port", -1)
            line.add("busy", true)
        }
        file.log.write(.warning, "bare")
        let lines = try file.documents()
        #expect(
            lines.map(\.names) == [["time", "level", "event", "public", "port", "busy"], ["time", "level", "event"]])
        #expect(file.lines()[0].contains(/^{"time":"[^"]*","level":"info","event":"listening","public":/))
        #expect(lines[0][member: "level"] == "info")
        #expect(lines[0][member: "event"] == "listening")
        #expect(lines[0][member: "public"] == "http://127.0.0.1:8080")
        #expect(lines[0][member: "port"] == -1)
        #expect(lines[0][member: "busy"] == true)
        #expect(lines[1][member: "level"] == "warning")
        let time = try #require(lines[0][member: "time"]?.string)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(time)")
    }

    @Test("Only lines of the level set or a more severe one are written")
    func levels() throws {
        var settings = Configuration().log
        settings.level = .warning
        let file = try LogFile(settings)
        for level in Configuration.Log.Level.allCases { file.log.write(level, "event") }
        #expect(try file.documents().map { $0[member: "level"]?.string } == ["warning", "error"])
    }

    private static let nasty = [
        "\n{\"level\":\"error\"}\n", "\r\n", "\0", "\u{1B}[2J", "\u{9B}31m", "\u{7F}", "\u{85}\u{80}\u{9F}", "Â é 🙂 ÿ",
        "\"\\\"", "\\", "a=b c", "", "}{][,:", "\u{2028}\u{2029}", "\u{202E}\u{2066}a\u{2069}",
        "‧ ⁥ ⁪",
    ]

    private static func isActedOn(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2028...0x202E, 0x2066...0x2069: true
        default: scalar.properties.generalCategory == .control
        }
    }

    @Test("No value can break a line or command a terminal, and JSON readers get it back as it was", arguments: nasty)
    func nastyJSON(_ value: String) throws {
        let file = try LogFile()
        file.log.write(.info, "event") { $0.add("value", value) }
        let lines = file.lines()
        try #require(lines.count == 1)
        #expect(!lines[0].unicodeScalars.contains(where: Self.isActedOn))
        let document = try JSONDocument(parsing: lines[0])
        #expect(document[member: "value"]?.string == value)
    }

    @Test("The same holds for text", arguments: nasty)
    func nastyText(_ value: String) throws {
        var settings = Configuration().log
        settings.format = .text
        let file = try LogFile(settings)
        file.log.write(.info, "event") { line in
            line.add("value", value)
            line.add("after", 1)
        }
        let lines = file.lines()
        try #require(lines.count == 1)
        #expect(!lines[0].unicodeScalars.contains(where: Self.isActedOn))
        let rest = try #require(lines[0].firstMatch(of: /^\d\d:\d\d:\d\d\.\d{3} info event value=(.*) after=1$/)?.1)
        if rest.hasPrefix("\"") {
            #expect(try JSONDocument(parsing: String(rest)).string == value)
        } else {
            #expect(rest == value)
        }
    }

    @Test("Text is for people: names but for the level and the event, quotes only where they help")
    func text() throws {
        var settings = Configuration().log
        settings.format = .text
        let file = try LogFile(settings)
        file.log.write(.info, "listening") { line in
            line.add("public", "http://127.0.0.1:8080")
            line.add("reason", "it is time")
            line.add("count", 2)
        }
        let line = try #require(file.lines().first)
        #expect(
            line.dropFirst(13) == #"info listening public=http://127.0.0.1:8080 reason="it is time" count=2"#)
    }

    @Test("A file is no terminal, so the format auto gives JSON there; and a format asked for is kept")
    func automatic() throws {
        let automatic = try LogFile()
        automatic.log.write(.info, "x")
        #expect(automatic.lines().first?.hasPrefix("{\"time\":") == true)
        var settings = Configuration().log
        settings.format = .text
        let text = try LogFile(settings)
        text.log.write(.info, "x")
        #expect(text.lines().first?.hasSuffix(" info x") == true)
    }
}

@Suite("Numbers in a line of the log")
struct LoggingNumberTests {
    /// What a member's value is written as.
    private func written(_ add: (inout LogLine) -> Void) -> String {
        var line = LogLine(.text, .info, "x")
        add(&line)
        return String(decoding: line.bytes.drop { $0 != UInt8(ascii: "=") }.dropFirst(), as: UTF8.self)
    }

    @Test(
        "integers have the digits they need", arguments: [0, 9, 10, 99, 65_535, 1_234_567_890_123, .max, -1, .min])
    func integers(value: Int) {
        #expect(written { $0.add("n", value) } == "\(value)")
    }

    @Test(
        "durations are milliseconds with three decimals",
        arguments: [(0, "0.000"), (7, "0.007"), (42, "0.042"), (999, "0.999"), (12_345_678, "12345.678")]
            as [(UInt64, String)])
    func durations(microseconds: UInt64, text: String) {
        #expect(written { $0.add("t", microseconds: microseconds) } == text)
    }

    @Test("ids have 32 digits in lower case behind their prefix")
    func ids() {
        #expect(
            written { $0.add("id", "ses_", high: 0x0123_4567_89AB_CDEF, low: 10) }
                == "ses_0123456789abcdef000000000000000a")
    }
}
