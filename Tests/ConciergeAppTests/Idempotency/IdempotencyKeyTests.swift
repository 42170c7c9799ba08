import Testing

@testable import ConciergeApp
@testable import HTTPServer

@Suite("Idempotency-Key")
struct IdempotencyKeyTests {
    @Test(
        "a string in quotes and the same without them are one key",
        arguments: [
            (#""8e03978e-40d5-43dd-bc93-6894a57f9324""#, "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("a", "a"), (#""a""#, "a"), (" \tpadded ", "padded"), (#""a,b""#, "a,b"), (#""a\"b\\c""#, #"a"b\c"#),
            ("aGVsbG8/+w==", "aGVsbG8/+w=="), (String(repeating: "k", count: 255), String(repeating: "k", count: 255)),
        ])
    func accepted(value: String, key: String) {
        #expect(IdempotencyKey(Array(value.utf8)).map { String(decoding: $0.bytes, as: UTF8.self) } == key)
    }

    @Test(
        "what is no key is 400",
        arguments: [
            "", " ", #""""#, #"""#, #""a"#, #"a""#, #""a"b"#, #""a";p=1"#, #""a", "b""#, "a,b", "a b", #""a b""#,
            "a\u{7F}", "schlüssel", #""schlüssel""#, #""a\b""#, #""a\"#, String(repeating: "k", count: 256),
            "\"" + String(repeating: "k", count: 256) + "\"",
        ])
    func refused(value: String) {
        #expect { try IdempotencyKey(of: makeRequest(key: value)) } throws: {
            ($0 as? HTTPError)?.status == .badRequest && ($0 as? HTTPError)?.code == "invalid_idempotency_key"
        }
    }

    @Test("two fields are 400, also when they say the same")
    func twice() {
        let request = makeRequest(key: "a", more: [(.idempotencyKey, "a")])
        #expect { try IdempotencyKey(of: request) } throws: { ($0 as? HTTPError)?.code == "invalid_idempotency_key" }
    }
}
