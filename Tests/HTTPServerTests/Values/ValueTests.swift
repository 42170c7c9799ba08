import Glibc
import Testing

@testable import HTTPServer

@Suite("HTTP values")
struct ValueTests {
    @Test("names of fields are equal whatever their case, and hash so")
    func names() {
        let names: [HTTPFieldName] = ["Content-Type", "content-type", "CONTENT-TYPE", "cOnTeNt-TyPe"]
        #expect(Set(names).count == 1)
        #expect(HTTPFieldName("A") != HTTPFieldName("AB"))
        #expect(HTTPFieldName("A") != HTTPFieldName("B"))
        // Bit 6 alone is not case: only letters have one.
        #expect(HTTPFieldName("^") != HTTPFieldName("~"))
        #expect(HTTPFieldName("a_b") != HTTPFieldName("a-b"))
        #expect(HTTPFieldName.etag.text == "ETag")
    }

    @Test("fields keep their order; a name is set, added and removed whatever its case")
    func fields() {
        var fields: HTTPFields = ["A": "1", "B": "2"]
        fields.add("a", "3")
        #expect(fields.lines.map(\.value) == ["1", "2", "3"])
        #expect(fields["a"] == "1")
        fields["a"] = "4"
        #expect(fields.lines.map(\.value) == ["2", "4"])
        fields["B"] = nil
        #expect(fields.lines.map(\.value) == ["4"])
        #expect(fields["B"] == nil)
    }

    private static let fixed = HTTPFixedFields(["A": "1", "B": "2"])
    private static let oneFixed = HTTPFixedFields(["A": "1"])

    @Test("fields that begin with fixed ones, and have a tag, are as if each had been added")
    func fixedFields() {
        func lines(_ change: (inout HTTPFields) -> Void) -> [String] {
            var fields = HTTPFields(Self.fixed)
            change(&fields)
            #expect(fields.isWellFormed)
            #expect(String(decoding: fields.wholeText, as: UTF8.self) == fields.texts.joined())
            return fields.lines.map { "\($0.name.text)=\($0.value)" }
        }
        #expect(lines { _ in } == ["A=1", "B=2"])
        #expect(lines { $0.add(entityTag: 0) } == ["A=1", "B=2", #"ETag="0""#])
        #expect(lines { $0.add(entityTag: .max) } == ["A=1", "B=2", #"ETag="18446744073709551615""#])
        #expect(
            lines { fields in
                fields.add("C", "3")
                fields.add(entityTag: 10)
                fields.add("D", "4")
            } == ["A=1", "B=2", "C=3", #"ETag="10""#, "D=4"])
        #expect(
            lines { fields in
                fields.add(entityTag: 1)
                fields.add(contentsOf: HTTPFields(Self.fixed))
            } == ["A=1", "B=2", #"ETag="1""#, "A=1", "B=2"])
        #expect(
            lines { fields in
                fields.add(entityTag: 7)
                fields["a"] = fields["b"]
            } == ["B=2", #"ETag="7""#, "a=2"])
        #expect(
            lines { fields in
                fields.add(entityTag: 7)
                fields["X"] = fields[.etag]
                fields[.etag] = nil
            } == ["A=1", "B=2", #"X="7""#])
    }

    @Test("setting a field does not mend what cannot be sent")
    func unsendable() {
        var fields = HTTPFields(Self.oneFixed)
        fields.add("B", "")
        fields["A"] = "2"
        #expect(!fields.isWellFormed)
        #expect(fields.texts == ["A: 2\r\n"])
    }

    @Test(
        "a query is taken apart and decoded once",
        arguments: [
            ("", []), ("a", ["a="]), ("a=", ["a="]), ("=a", ["=a"]), ("a=b&c=d", ["a=b", "c=d"]),
            ("a=b&a=c", ["a=b", "a=c"]),
            ("&&a=b&&", ["a=b"]), ("a=b=c", ["a=b=c"]), ("a+b=c+d", ["a b=c d"]), ("a%2Bb=%26%3D", ["a+b=&="]),
            ("a=%2541", ["a=%41"]), ("%C3%A4=%e2%82%ac", ["ä=€"]),
        ] as [(String, [String])])
    func query(text: String, expected: [String]) throws {
        let arguments = try QueryArguments(ArraySlice(text.utf8))
        #expect(arguments.all.map { "\($0.name)=\($0.value)" } == expected)
        #expect(arguments["none"] == nil)
    }

    @Test(
        "a query with a broken escape is refused", arguments: ["a=%", "a=%4", "%zz=a", "a=%FF", "a=%C3", "a=%ED%A0%80"])
    func badQuery(text: String) {
        #expect(throws: HTTPError.self) { try QueryArguments(ArraySlice(text.utf8)) }
    }

    @Test("no query has no arguments")
    func noQuery() throws {
        #expect(try QueryArguments(nil).all.isEmpty)
    }

    @Test(
        "an address is written as people do",
        arguments: [
            "127.0.0.1", "192.0.2.255", "0.0.0.0", "255.255.255.255", "::1", "2001:db8::1", "fe80::1:2",
            "2001:db8:1:2:3:4:5:6",
        ])
    func addresses(text: String) {
        #expect(Self.peer(text, port: 4711).host == text)
        #expect(Self.peer(text, port: 4711).port == 4711)
        #expect(Self.peer(text, port: 1) != Self.peer(text, port: 2))
    }

    @Test("an IPv4 address mapped into IPv6 is the IPv4 address, and no address is none")
    func mapped() {
        #expect(Self.peer("::ffff:192.0.2.1", port: 1) == Self.peer("192.0.2.1", port: 1))
        #expect(PeerAddress(nil).host == "")
        #expect(PeerAddress(nil) == .unknown)
    }

    private static func peer(_ text: String, port: UInt16) -> PeerAddress {
        if text.contains(":") {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, text, &address.sin6_addr)
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { PeerAddress($0) }
            }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, text, &address.sin_addr)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { PeerAddress($0) }
        }
    }

    @Test("methods are told apart by case, and known ones know whether they only read")
    func methods() {
        for name in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "X"] {
            #expect(HTTPMethod(name).description == name)
        }
        #expect(HTTPMethod("get") == .other("get"))
        #expect(HTTPMethod.get.isSafe)
        #expect(!HTTPMethod.post.isSafe)
        #expect(!HTTPMethod.other("get").isSafe)
    }

    @Test("request ids are the client's if they can stand in a log")
    func sentIDs() {
        let ids = RequestIDs()
        for usable in ["a", "A.b_c-9", String(repeating: "x", count: 128)] {
            let id = ids.id(of: HTTPRequestFields(target: "/", fields: [("request-id", usable)]), number: 1)
            #expect(id.text == usable)
            #expect(id.count == usable.utf8.count)
        }
        for unusable in ["", "a b", "a\"b", "ä", "a/b", "a\r\nb", String(repeating: "x", count: 129)] {
            let id = ids.id(of: HTTPRequestFields(target: "/", fields: [(.requestID, unusable)]), number: 1)
            #expect(id.text != unusable)
            #expect(id.text.utf8.count == 15 && id.count == 15)
        }
    }

    @Test("a name that is made again has the text that is there already, in its own spelling")
    func namesMadeAgain() {
        let made = (0..<3).map { _ in HTTPFieldName("X-Made-Again") }
        #expect(Set(made.map(\.bytes.baseAddress)).count == 1)
        #expect(HTTPFieldName("x-made-again").text == "x-made-again")
        #expect(HTTPFieldName("x-made-again") == made[0])
        #expect(HTTPFieldName("if-match").text == "if-match")
    }

    @Test("request ids that are made up are all different")
    func madeUpIDs() {
        let ids = RequestIDs()
        let head = HTTPRequestFields(target: "/", fields: [])
        #expect(Set((0..<10_000).map { ids.id(of: head, number: $0).text }).count == 10_000)
    }

    @Test("a request id that is made up has all digits of the server's prefix and of the request's number")
    func digitsOfIDs() {
        #expect(RequestID(prefix: 0, number: 0).text == "000000000000000")
        #expect(RequestID(prefix: 1 << 25 - 1, number: 1).text == "zzzzz0000000001")
        #expect(RequestID(prefix: 1, number: 1 << 50 - 1).text == "00001zzzzzzzzzz")
        #expect(RequestID(prefix: 32, number: 1 << 50 | 33).text == "000100000000011")
    }
}

extension HTTPFields {
    /// The lines as they go out.
    fileprivate var texts: [String] { lines.map { "\($0.name.text): \($0.value)\r\n" } }
}
