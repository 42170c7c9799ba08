extension HostileRequest {
    /// How long the body is, RFC 9112, section 6.
    static let lengths: [HostileRequest] = [
        .post("two Content-Length, different", "Content-Length: 5\r\nContent-Length: 6\r\n", 400),
        .post("two Content-Length, the same", "Content-Length: 5\r\nContent-Length: 5\r\n", 400),
        .post("two Content-Length, the first 0", "Content-Length: 0\r\nContent-Length: 5\r\n", 400),
        .post("two Content-Length in other cases", "content-length: 5\r\nCONTENT-LENGTH: 5\r\n", 400),
        .post("a list in Content-Length", "Content-Length: 5, 5\r\n", 400),
        .post("a signed Content-Length", "Content-Length: +5\r\n", 400),
        .post("a negative Content-Length", "Content-Length: -5\r\n", 400),
        .post("a hexadecimal Content-Length", "Content-Length: 0x5\r\n", 400),
        .post("a fraction in Content-Length", "Content-Length: 5.0\r\n", 400),
        .post("an empty Content-Length", "Content-Length:\r\n", 400),
        .post("blanks inside Content-Length", "Content-Length: 5 5\r\n", 400),
        .post(
            "a Content-Length beyond 64 bits", "Content-Length: 99999999999999999999\r\n", 413),
        .post("a Content-Length that wraps to 5", "Content-Length: 18446744073709551621\r\n", 413),
        .post("a Content-Length of 19 digits", "Content-Length: 0000000000000000005\r\n", 400),
        .post("a Content-Length over the limit", "Content-Length: 1048577\r\n", 413),
        .post(
            "Transfer-Encoding and Content-Length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            body: "0\r\n\r\n", 400),
        .post(
            "Content-Length and Transfer-Encoding", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            body: "0\r\n\r\n", 400),
        .post("Transfer-Encoding gzip", "Transfer-Encoding: gzip\r\n", 400),
        .post("Transfer-Encoding identity", "Transfer-Encoding: identity\r\n", 400),
        .post("Transfer-Encoding identity and a length", "Transfer-Encoding: identity\r\nContent-Length: 5\r\n", 400),
        .post("Transfer-Encoding gzip, chunked", "Transfer-Encoding: gzip, chunked\r\n", body: "0\r\n\r\n", 501),
        .post("Transfer-Encoding chunked, gzip", "Transfer-Encoding: chunked, gzip\r\n", body: "0\r\n\r\n", 400),
        .post("Transfer-Encoding chunked, chunked", "Transfer-Encoding: chunked, chunked\r\n", body: "0\r\n\r\n", 400),
        .post("Transfer-Encoding xchunked", "Transfer-Encoding: xchunked\r\n", body: "0\r\n\r\n", 400),
        .post("Transfer-Encoding in quotes", "Transfer-Encoding: \"chunked\"\r\n", body: "0\r\n\r\n", 400),
        .post("Transfer-Encoding with a parameter", "Transfer-Encoding: chunked;q=1\r\n", body: "0\r\n\r\n", 400),
        .post("Transfer-Encoding gzip twice", "Transfer-Encoding: gzip\r\nTransfer-Encoding: br\r\n", 400),
        .post("Transfer-Encoding in two fields", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 501),
        .post("Transfer-Encoding with empty elements", "Transfer-Encoding: , gzip,, chunked ,\r\n", 501),
        .post("an empty Transfer-Encoding", "Transfer-Encoding:\r\n", body: "0\r\n\r\n", 400),
        .post(
            "Transfer-Encoding twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            body: "0\r\n\r\n", 400),
        .post(
            "Transfer-Encoding twice, the second unknown",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", body: "0\r\n\r\n", 400),
        .post(
            "Transfer-Encoding twice, the first empty", "Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n",
            body: "0\r\n\r\n", 501),
        .post("a vertical tab before chunked", "Transfer-Encoding: \u{B}chunked\r\n", body: "0\r\n\r\n", 400),
        .post("Transfer-Encoding with a blank before the colon", "Transfer-Encoding : chunked\r\n", 400),
        .post("Content-Length with a blank before the colon", "Content-Length : 5\r\n", 400),
        HostileRequest(
            "Transfer-Encoding in HTTP/1.0",
            "POST /echo HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        HostileRequest(
            "Content-Length hidden behind a bare LF",
            "POST /echo HTTP/1.1\r\nHost: h\r\nA: b\nContent-Length: 5\r\n\r\nhello", 400),
        HostileRequest(
            "Transfer-Encoding hidden behind a NUL",
            bytes: Array(
                "POST /echo HTTP/1.1\r\nHost: h\r\nA: b\0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".utf8), 400),
    ]

    /// Chunks that do not hold together, RFC 9112, section 7.1.
    static let chunks: [HostileRequest] = [
        .chunked("a size that is no number", "xyz\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a negative size", "-5\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("an empty size", "\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a size with a prefix", "0x5\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a blank behind the size", "5 \r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a size beyond 64 bits", "11111111111111111\r\nhello\r\n0\r\n\r\n", 413),
        .chunked("data longer than its size", "3\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a trailer without a colon", "0\r\nnothing\r\n\r\n", 400),
        .chunked("a bare LF behind the size", "5\nhello\r\n0\r\n\r\n", 400),
        .chunked("a bare LF behind an extension", "5;a=b\nhello\r\n0\r\n\r\n", 400),
        .chunked("a bare LF inside an extension", "5;a\nb\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a bare CR inside an extension", "5;a\rb\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a NUL inside an extension", "5;a\0b\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a bare LF behind the data", "5\r\nhello\n0\r\n\r\n", 400),
        .chunked("a bare LF behind the last size", "5\r\nhello\r\n0\n\r\n", 400),
        .chunked("a bare LF for the blank line", "5\r\nhello\r\n0\r\n\n", 400),
        .chunked("a bare LF behind a trailer", "0\r\nA: b\n\r\n", 400),
        .chunked("a trailer without a name", "0\r\n: b\r\n\r\n", 400),
        .chunked("a delimiter in a trailer's name", "0\r\n;A: b\r\n\r\n", 400),
        .chunked("a blank before a trailer's colon", "0\r\nA : b\r\n\r\n", 400),
        .chunked("a folded trailer", "0\r\nA: b\r\n c\r\n\r\n", 400),
        .chunked("a control character in a trailer", "0\r\nA: b\u{1}\r\n\r\n", 400),
        .chunked("a size behind zeros without end", String(repeating: "0", count: 300), 400),
        .chunked("an extension without end", "5;" + String(repeating: "a", count: 10_000), 400),
        .chunked("an extension without a name", "5;\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("an extension without a name, but a value", "5;=b\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("an extension without a value", "5;a=\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a delimiter in an extension's name", "5;a(b\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a delimiter in an extension's value", "5;a=b@c\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("two names in an extension", "5;a b\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("two values in an extension", "5;a=b c\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a blank behind an extension", "5;a=b \r\nhello\r\n0\r\n\r\n", 400),
        .chunked("an open quotation in an extension", "5;a=\"b\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("text behind a quotation in an extension", "5;a=\"b\"c\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("a quoted control character in an extension", "5;a=\"\\\u{1}\"\r\nhello\r\n0\r\n\r\n", 400),
        .chunked("trailers without end", "0\r\n" + String(repeating: "A: b\r\n", count: 5000), 431),
        .chunked("a size over the limit, and no data", "100001\r\n", 413),
    ]

    private static func chunked(_ name: String, _ body: String, _ status: Int?) -> HostileRequest {
        .post("chunks: \(name)", "Transfer-Encoding: chunked\r\n", body: body, status)
    }

    /// The lines of the head, RFC 9112, sections 2.2 and 5.
    static let layout: [HostileRequest] = [
        .fields("a folded line", "A: b\r\n c\r\n", 400),
        .fields("a line folded with a tab", "A: b\r\n\tc\r\n", 400),
        .fields("a line folded twice", "A: b\r\n c\r\n d\r\n", 400),
        .fields("a fold of nothing but a blank", "A: b\r\n \r\n", 400),
        .fields("a fold of nothing but a blank, then a field", "A: b\r\n \r\nC: d\r\n", 400),
        .fields("a fold behind an empty value", "A:\r\n b\r\n", 400),
        .fields("a fold with a colon in it", "A: b\r\n c: d\r\n", 400),
        .fields("a fold between fields", "A: b\r\n c\r\nD: e\r\n", 400),
        .fields("a fold and a bare LF that cancel out", "A: b\r\n c\r\nD: e\n", 400),
        .fields("a fold, and two bare LFs", "A: b\r\n  c\r\nD: e\nF: g\n", 400),
        .post("a folded Content-Length", "Content-Length: 3\r\n 5\r\n", 400),
        .post("a fold behind Content-Length", "Content-Length: 5\r\n x\r\n", 400),
        .post("a folded Transfer-Encoding", "Transfer-Encoding:\r\n chunked\r\n", body: "0\r\n\r\n", 400),
        HostileRequest("a folded Host, the first line", "GET / HTTP/1.1\r\nHost: h\r\n x\r\n\r\n", 400),
        HostileRequest("a fold before the first field", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400),
        HostileRequest("a tab before the first field", "GET / HTTP/1.1\r\n\tHost: h\r\n\r\n", 400),
        HostileRequest("a blank line with a blank", "GET / HTTP/1.1\r\n \r\nHost: h\r\n\r\n", 400),
        HostileRequest("a bare LF behind the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n", 400),
        .fields("a bare LF behind a field", "A: b\nC: d\r\n", 400),
        .fields("a bare LF behind the last field", "A: b\n", 400),
        HostileRequest("a bare LF as blank line", "GET / HTTP/1.1\r\nHost: h\r\n\n", 400),
        HostileRequest("a bare LF as blank line, without fields", "GET / HTTP/1.0\r\n\n", 400),
        HostileRequest("nothing but bare LFs", "GET / HTTP/1.1\nHost: h\n\n", 400),
        .fields("a CR more before CR LF", "A: b\r\r\n", 400),
        .fields("a bare CR in a value", "A: b\rc\r\n", 400),
        .fields("a bare CR in a name", "A\rB: c\r\n", 400),
        HostileRequest("a CR more in the blank line", "GET / HTTP/1.1\r\nHost: h\r\n\r\r\n", 400),
        .fields("a line without a colon", "Nothing\r\n", 400),
        HostileRequest(
            "a first line without a colon", "GET / HTTP/1.1\r\nNothing\r\nHost: h\r\n\r\n",
            400),
        .fields("a NUL in a name", "A\0B: c\r\n", 400),
        .fields("a NUL in a value", "A: b\0c\r\n", 400),
        .fields("a NUL at the end of a value", "A: b\0\r\n", 400),
        .fields("a NUL at the start of a value", "A: \0b\r\n", 400),
        .fields("a NUL at the start of a line", "\0A: b\r\n", 400),
        .fields("a line that is a NUL, which ends the head for the library", "\0\r\nA: b\r\n", 400),
        .fields("a NUL behind the colon", "A:\0b\r\n", 400),
        .fields("a NUL and a lone LF, which have the length of CR LF", "A: b\0\nC: d\r\n", 400),
        HostileRequest("a NUL and a lone LF at the end", "GET / HTTP/1.1\r\nHost: h\r\n\0\n", 400),
        HostileRequest(
            "a colon behind a lone LF, which ends the head for the library",
            "GET / HTTP/1.1\r\nHost: h\r\nA: b\n:\r\n", 400),
        HostileRequest(
            "a line before the request line that begins with NUL", "\0abc\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ]

    static let names: [HostileRequest] = [
        .fields("a blank before the colon", "A : b\r\n", 400),
        .fields("a tab before the colon", "A\t: b\r\n", 400),
        .fields("an empty name", ": b\r\n", 400),
        .fields("a blank inside a name", "A B: c\r\n", 400),
        .fields("a delimiter in a name", "A(B): c\r\n", 400),
        .fields("a slash in a name", "A/B: c\r\n", 400),
        .fields("a quote in a name", "\"A\": c\r\n", 400),
        .fields("a control character in a name", "A\u{1}B: c\r\n", 400),
        .fields("DEL in a name", "A\u{7F}B: c\r\n", 400),
        .fields("a letter beyond ASCII in a name", "Ä: c\r\n", 400),
        .fields("a control character in a value", "A: b\u{1}c\r\n", 400),
        .fields("an escape sequence in a value", "A: \u{1B}[31m\r\n", 400),
        .fields("DEL in a value", "A: b\u{7F}c\r\n", 400),
        .fields("a vertical tab in a value", "A: b\u{B}c\r\n", 400),
    ]

    static let hosts: [HostileRequest] =
        [
            HostileRequest("no Host", "GET / HTTP/1.1\r\n\r\n", 400),
            HostileRequest("no Host, other fields", "GET / HTTP/1.1\r\nA: b\r\n\r\n", 400),
            HostileRequest("no Host in HTTP/1.2", "GET / HTTP/1.2\r\n\r\n", 400),
            HostileRequest("two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: h\r\nHost: i\r\n\r\n", 400),
            HostileRequest("a malformed Host in HTTP/1.0", "GET / HTTP/1.0\r\nHost: h/i\r\n\r\n", 400),
            .fields("two Hosts", "Host: i\r\n", 400),
            .fields("two equal Hosts", "host: h\r\n", 400),
        ]
        + [
            "h/i", "h?i", "h#i", "u@h", "h i", "h:port", "h:123456", "h:80:80", ":80", "[::1", "[::1]x", "[]", "[g::1]",
            "h\\i", "<h>", "h\"", "\u{FC}", "http://h", "[::1%25eth0]",
        ].map { HostileRequest("Host \($0)", "GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n", 400) }

    /// The request line, RFC 9112, section 3.
    static let requestLines: [HostileRequest] = [
        HostileRequest("HTTP/0.9", "GET /\r\n\r\n", 400),
        HostileRequest("HTTP/0.9 with a version", "GET / HTTP/0.9\r\nHost: h\r\n\r\n", 505),
        HostileRequest("HTTP/2.0", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505),
        HostileRequest("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        HostileRequest("HTTP/1.10", "GET / HTTP/1.10\r\nHost: h\r\n\r\n", 400),
        HostileRequest("HTTP/11", "GET / HTTP/11\r\nHost: h\r\n\r\n", 400),
        HostileRequest("http/1.1 in small letters", "GET / http/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("ICY/1.1", "GET / ICY/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("two blanks before the target", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("two blanks before the version", "GET /  HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a blank in the target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a request line in the target", "GET / HTTP/1.1 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest(
            "a blank behind the version", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400),
        HostileRequest("a blank before the method", " GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("tabs for blanks", "GET\t/\tHTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a tab before the target", "GET \t/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a method with a delimiter", "G(E)T / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a NUL in the method", "GE\0T / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a NUL in the target", "GET /a\0b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a NUL at the target's end", "GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a NUL before the query", "GET /a\0?b=c HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a NUL in the query", "GET /?a\0b=c HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a NUL at the start of the query", "GET /?\0b=c HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a bare CR in the request line", "GET /a\rb HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("no target", "GET HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        HostileRequest("a method alone", "GET\r\n\r\n", 400),
        HostileRequest("garbage without a blank", "\u{1}\u{2}\u{3}\u{4}\r\n\r\n", 400),
        HostileRequest("garbage with a blank", "\u{1} \u{2} \u{3}\r\n\r\n", 400),
        HostileRequest("a TLS hello", bytes: [0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3, 13, 10, 13, 10], 400),
    ]

    static let targets: [HostileRequest] = [
        .target("an empty target in authority-form", "h:80", 400),
        .target("no slash", "a", 400),
        .target("a scheme alone", "http:", 400),
        .target("a scheme without authority", "http://", 400),
        .target("absolute-form without a host", "http:///a", 400),
        .target("absolute-form with a user", "http://u@h/", 400),
        .target("absolute-form with a bad port", "http://h:x/", 400),
        .target("absolute-form of another scheme", "ftp://h/", 400),
        .target("javascript", "javascript:1", 400),
        .target("an asterisk with GET", "*", 400),
        .target("an asterisk with more", "*a", method: "OPTIONS", 400),
        .target("a fragment", "/#a", 400),
        .target("a backslash", "/a\\b", 400),
        .target("angle brackets", "/<script>", 400),
        .target("a quote", "/\"", 400),
        .target("a brace", "/{a}", 400),
        .target("a bar", "/a|b", 400),
        .target("a caret", "/a^b", 400),
        .target("letters beyond ASCII", "/ä", 400),
        .target("a control character", "/\u{1}", 400),
        .target("DEL", "/\u{7F}", 400),
        .target("a target that is too long", "/" + String(repeating: "a", count: 2048), 414),
        .target("a target longer than a whole head may be", "/" + String(repeating: "a", count: 17_000), 414),
        .target(
            "a target longer than the library's memory", "/" + String(repeating: "a", count: 40_000),
            414),
        .target(
            "a query longer than the library's memory", "/?" + String(repeating: "a", count: 100_000),
            414),
        .target("500 arguments", "/?" + String(repeating: "a=b&", count: 500), 400),
        .target("65 arguments", "/?" + String(repeating: "a&", count: 64) + "a", 400),
        .target("2000 empty arguments", "/?" + String(repeating: "&", count: 2000), 400),
    ]

    static let sizes: [HostileRequest] = [
        .fields("101 fields", String(repeating: "A: b\r\n", count: 100), 431),
        .fields("300 fields", String(repeating: "A:\r\n", count: 300), 431),
        .fields("a head over its limit", "A: " + String(repeating: "b", count: 16_384) + "\r\n", 431),
        .fields(
            "a head larger than the library's memory",
            "A: " + String(repeating: "b", count: 40_000) + "\r\n",
            431),
        .fields("257 cookies", "Cookie: " + Array(repeating: "a=b", count: 257).joined(separator: "; ") + "\r\n", 431),
        .fields(
            "258 cookies in 86 fields", String(repeating: "Cookie: a=b; c=d; e=f\r\n", count: 86), 431),
        .fields(
            "600 cookies",
            "Cookie: " + Array(repeating: "a=b", count: 600).joined(separator: "; ") + "\r\n", 431),
    ]

    /// What 1.0 of the library takes in, as RFC 9112 allows, and what is before it cannot.
    private static let before1: [HostileRequest] = [
        .post("blanks behind Content-Length", "Content-Length: 5 \r\n", 400),
        .post("Transfer-Encoding with a blank behind it", "Transfer-Encoding: chunked \r\n", body: "0\r\n\r\n", 501),
        .post("Transfer-Encoding with a tab behind it", "Transfer-Encoding: chunked\t\r\n", body: "0\r\n\r\n", 501),
    ]

    static let all =
        (isBefore1 ? before1 : []) + lengths + chunks + layout + names + hosts + requestLines + targets + sizes
}
