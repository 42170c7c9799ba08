import Glibc
import JSONDocument
import Synchronization
import Testing

@testable import Sessions

@Suite struct IdentityTests {
    @Test("an id is read back from its text, and nothing else is an id")
    func ids() {
        let id = SessionID(high: 0x0123_4567_89AB_CDEF, low: 42)
        #expect(id.description == "ses_0123456789abcdef000000000000002a")
        #expect(SessionID(id.description) == id)
        for text in ["", "ses_", "ses_0123456789ABCDEF000000000000002a", "ses_0123456789abcdef000000000000002", "x"] {
            #expect(SessionID(text) == nil)
        }
        #expect(SessionID(high: 1, low: 0) > SessionID(high: 0, low: .max))
    }

    @Test("a token has the prefix, 256 random bits after its session's id, and hides itself from logs")
    func tokens() throws {
        let id = SessionID(high: 7, low: 9)
        let token = SessionToken(for: id, random: SystemRandom())
        #expect(token.text.hasPrefix("cg_") && token.text.utf8.count == 67)
        #expect("\(token)" == "cg_…")
        let presented = try #require(PresentedToken(token.text))
        #expect(presented.sessionID == id)
        #expect(presented.digest == token.presented.digest)
        #expect(SessionToken(for: id, random: SystemRandom()).presented.digest != presented.digest)
    }

    @Test(
        "what does not look like a token is none",
        arguments: [
            "", "cg_", "xx_" + String(repeating: "A", count: 64), "cg_" + String(repeating: "A", count: 63),
            "cg_" + String(repeating: "A", count: 65), "cg_" + String(repeating: "=", count: 64),
            "cg_ä" + String(repeating: "A", count: 62),
        ])
    func malformedTokens(text: String) {
        #expect(PresentedToken(text) == nil)
    }

    @Test("a character that is no digit of base64url makes no id")
    func digits() {
        for byte in UInt8.min...UInt8.max {
            for place in [3, 14, 26] {
                var text = Array(("cg_" + String(repeating: "A", count: 64)).utf8)
                text[place] = byte
                let isDigit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8.contains(byte)
                #expect((text.withUnsafeBytes { PresentedToken(bytes: $0) } != nil) == isDigit, "\(byte) at \(place)")
            }
        }
    }

    @Test("a token that differs in any one character is another session's or has another digest")
    func otherTokens() throws {
        let token = SessionToken(for: SessionID(high: .max, low: 1), random: SystemRandom())
        for place in 3..<SessionToken.length {
            var text = Array(token.text.utf8)
            text[place] = text[place] == UInt8(ascii: "x") ? UInt8(ascii: "y") : UInt8(ascii: "x")
            let other = try #require(text.withUnsafeBytes { PresentedToken(bytes: $0) })
            #expect(other.sessionID != token.sessionID || other.digest != token.presented.digest, "\(place)")
        }
    }

    @Test("digests that differ in any one bit differ")
    func digestBits() {
        let digest = TokenDigest(words: (1, 2, 3, 4))
        #expect(digest == TokenDigest(words: (1, 2, 3, 4)))
        for bit in 0..<256 {
            let words = (0..<4).map { UInt64($0 + 1) ^ (bit / 64 == $0 ? 1 << UInt64(bit % 64) : 0) }
            #expect(digest != TokenDigest(words: (words[0], words[1], words[2], words[3])))
        }
    }

    @Test("the digest is SHA-256")
    func digest() {
        let digest = Array("abc".utf8).withUnsafeBytes { TokenDigest(of: $0) }
        // FIPS 180-2, appendix B.1.
        let expected: [UInt8] = [
            0xBA, 0x78, 0x16, 0xBF, 0x8F, 0x01, 0xCF, 0xEA, 0x41, 0x41, 0x40, 0xDE, 0x5D, 0xAE, 0x22, 0x23, 0xB0, 0x03,
            0x61, 0xA3, 0x96, 0x17, 0x7A, 0x9C, 0xB4, 0x10, 0xFF, 0x61, 0xF2, 0x00, 0x15, 0xAD,
        ]
        #expect(digest.bytes == expected)
        #expect(TokenDigest(bytes: expected) == digest)
        #expect(TokenDigest(bytes: expected.dropLast()) == nil)
    }

    @Test("an entity tag has one spelling")
    func etags() {
        #expect(ServiceETag(opaque: "17") == ServiceETag(revision: 17))
        #expect(ServiceETag(revision: 17).description == "\"17\"")
        for revision in [0, 9, 10, 12_345, UInt64.max] {
            let tag = ServiceETag(revision: revision)
            #expect(tag.description == "\"\(revision)\"")
            for (text, isTag) in [
                ("\"\(revision)\"", true), ("\(revision)", false), ("\"\(revision)0\"", false), ("", false),
            ] {
                #expect(Array(text.utf8).withUnsafeBytes { tag.isWritten($0) } == isTag)
            }
            #expect(!Array("\"\(revision ^ 1)\"".utf8).withUnsafeBytes { tag.isWritten($0) })
        }
        for text in ["", "017", "+17", "-1", "1.0", "x", "18446744073709551616"] {
            #expect(ServiceETag(opaque: text) == nil)
        }
    }

    @Test(
        "a moment is shown as RFC 3339 with milliseconds",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_001, "2000-02-29T00:00:00.001Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        ] as [(Int64, String)])
    func timestamps(milliseconds: Int64, text: String) {
        #expect(Timestamp(millisecondsSince1970: milliseconds).description == text)
    }

    @Test("a cursor is read back, and other texts are none")
    func cursors() throws {
        let cursor = SessionCursor(id: SessionID(high: 1, low: 2))
        #expect(try SessionCursor(text: cursor.text) == cursor)
        for text in ["", "abc", String(repeating: "A", count: 24), cursor.text + "A"] {
            #expect(throws: SessionError.malformedCursor) { try SessionCursor(text: text) }
        }
    }

    @Test("the system clock shows the same moment twice, near the wall clock")
    func systemClock() {
        let clock = SystemClock()
        let moment = clock.now()
        let shown = clock.wall(at: moment)
        for _ in 0..<1_000 { #expect(clock.wall(at: moment) == shown) }
        #expect(clock.now() >= moment)
    }

    @Test("steady time does not follow the wall clock; what is shown does, but for small differences")
    func setClock() {
        let machine = Mutex((boot: Int64(1_000), wall: Int64(1_700_000_000_000)))
        let move = { (boot: Int64, wall: Int64) in machine.withLock { $0 = ($0.boot + boot, $0.wall + wall) } }
        let clock = SystemClock(boot: { machine.withLock { $0.boot } }, wall: { machine.withLock { $0.wall } })
        let start = clock.now()
        #expect(start == 1_700_000_000_000)
        move(50, 51)
        #expect(clock.now() - start == 50 && clock.wall(at: start) == start)
        move(0, -3_600_000)
        #expect(clock.now() - start == 50 && clock.wall(at: start) == start - 3_599_999)
        move(0, 86_400_000)
        #expect(clock.now() - start == 50 && clock.wall(at: start) == start + 82_800_001)
    }
}
