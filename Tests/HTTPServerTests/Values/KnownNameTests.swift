import CMicroHTTPD
import HTTPTestClient
import Testing

@testable import HTTPServer

@Suite("Well-known names of fields")
struct KnownNameTests {
    private static let known = (CMHD_FIELD_OTHER.rawValue + 1..<CMHD_FIELD_NAMES.rawValue).map {
        cmhd_field_name(rawValue: $0)
    }

    private static func text(_ name: cmhd_field_name) -> String {
        cmhd_field_name_text(name).map { String(cString: $0) } ?? ""
    }

    @Test("are known by their text, whatever its case")
    func found() {
        for name in Self.known {
            let text = Self.text(name)
            #expect(!text.isEmpty)
            for spelling in [text, text.uppercased(), text.capitalized(first: 1), text.capitalized(first: 5)] {
                #expect(HTTPFieldName(spelling).known == name, "\(spelling)")
            }
        }
    }

    @Test("are not taken for others of the same length, or of nearly the same text")
    func others() {
        for name in Self.known {
            let text = Self.text(name)
            for index in text.indices {
                for replacement in ["~", "0", text[index] == "z" ? "y" : "z"] {
                    let other = text.replacing(index, with: replacement)
                    #expect(HTTPFieldName(other).known == CMHD_FIELD_OTHER, "\(other)")
                }
            }
            #expect(HTTPFieldName(text + "s").known == CMHD_FIELD_OTHER)
            #expect(HTTPFieldName(String(text.dropFirst())).known == CMHD_FIELD_OTHER)
        }
        #expect(cmhd_field_name_text(CMHD_FIELD_OTHER) == nil)
        #expect(cmhd_field_name_text(CMHD_FIELD_NAMES) == nil)
    }

    @Test("have no other spelling than upper and lower case, whatever the byte")
    func spellings() {
        for name in Self.known {
            let text = Array(Self.text(name).utf8)
            for index in text.indices {
                for byte in UInt8.min...UInt8.max {
                    var other = text
                    other[index] = byte
                    let isSame = byte.lowercasedASCII == text[index]
                    let found = cmhd_field_name_of(other, other.count)
                    if found != (isSame ? name : CMHD_FIELD_OTHER) { Issue.record("\(byte) at \(index) of \(text)") }
                }
            }
        }
    }

    @Test("go with values that have no control character but the tab, wherever in them")
    func values() {
        for length in 0...40 {
            let usual = [UInt8](repeating: 0x61, count: length)
            #expect(cmhd_is_field_value(usual, length))
            for index in usual.indices {
                for byte in UInt8.min...UInt8.max {
                    var value = usual
                    value[index] = byte
                    let isGood = byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
                    if cmhd_is_field_value(value, length) != isGood { Issue.record("\(byte) at \(index) of \(length)") }
                }
            }
        }
        let odd: [UInt8] = [0xFF, 0x80, 0x20, 0x09, 0x7E, 0x21, 0x1F ^ 0x3F, 0xA0, 0x09, 0x81]
        #expect(cmhd_is_field_value(odd, odd.count))
    }

    @Test("are found in a request where they are, as others are, whatever is around them")
    func places() async throws {
        let judged = ["host", "content-length", "content-encoding", "content-range", "transfer-encoding"]
        let names = Self.known.map(Self.text).filter { !judged.contains($0) }
        try await withServer(setting: \.limits.fields, to: 64) { routes in
            routes.on(.post, "/{name}") { request in
                let name = HTTPFieldName(request.parameter("name"))
                let only =
                    switch request.fields.only(name) {
                    case .none: "none"
                    case .one(let value): String(decoding: value, as: UTF8.self)
                    case .several: "several"
                    }
                let values = request.fields.values(of: name).joined(separator: "|")
                return HTTPResponse(
                    text: "\(request.fields.count(of: name)) \(request.fields[name] ?? "-") \(only) \(values)")
            }
        } _: { server in
            try await server.connected { connection in
                for name in names + ["x-unknown"] {
                    let others = (names + ["x-other"]).filter { $0 != name }.map { "\($0): no\r\n" }.joined()
                    for (lines, expected) in [
                        ("", "0 - none "), ("\(name.uppercased()):\tone \r\n", "1 one one one"),
                        ("\(name): \r\n", "1   "),
                        ("\(name): one\r\nA: b\r\n\(name.capitalized(first: 1)): two\r\n", "2 one several one|two"),
                    ] {
                        for head in [others + lines, lines + others, lines] {
                            try connection.send(
                                "POST /\(name) HTTP/1.1\r\nHost: h\r\n\(head)Content-Length: 1\r\n\r\na")
                            #expect(try connection.readResponse().text == expected, "\(name)")
                        }
                    }
                }
            }
        }
    }
}

extension String {
    fileprivate func capitalized(first count: Int) -> String { prefix(count).uppercased() + dropFirst(count) }

    fileprivate func replacing(_ index: Index, with other: String) -> String {
        self[..<index] + other + self[self.index(after: index)...]
    }
}
