import Glibc
import HTTPServer
import HTTPTestClient
import SeededRandomness
import Testing

/// Requests behind one another on a connection, with mistakes in them.
private struct Pipeline {
    let bytes: [UInt8]

    private static let chunked = "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static let good: [String] = [
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /?a=b HTTP/1.1\r\nHost: example.org:80\r\nAccept: */*\r\nA: b c\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET http://h/ HTTP/1.1\r\nHost: h\r\nCookie: a=b; c=d\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 37\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n12",
        "POST /later HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
        chunked + "A;a=b ;c=\"d\"\r\n0123456789\r\n0\r\nA: b\r\n\r\n",
        chunked + "1C\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n\r\n0\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    ]

    private static let pieces: [String] = [
        "\r\n", "\n", "\r", " ", "\t", "\0", ":", ";", ",", "0", "5", "\u{B}", "\u{7F}", "\r\n\r\n", "\r\n ", " \r\n",
        "Content-Length: 5\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: ",
        "Host: i\r\n", "chunked", "identity", "HTTP/1.0", "HTTP/1.1", "0\r\n\r\n", "GET /smuggled HTTP/1.1\r\n", "\"",
        "=",
        "Connection: close\r\n", "+", "-", "0x",
    ]

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            bytes += (Self.good.randomElement(using: &random) ?? "").utf8
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 1...8, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            case 3: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 4:
                // Where lines begin is where most goes wrong.
                let starts = bytes.indices.filter { $0 > 0 && bytes[$0 - 1] == 10 }
                bytes.insert(
                    contentsOf: Array((Self.pieces.randomElement(using: &random) ?? "").utf8),
                    at: starts.randomElement(using: &random) ?? place)
            default: bytes.insert(contentsOf: Array((Self.pieces.randomElement(using: &random) ?? "").utf8), at: place)
            }
        }
        self.bytes = bytes
    }
}

@Suite("Mutated pipelines", .serialized)
struct PipelineTests {
    /// `PIPELINES=1000000` is what a release is tested with; `PIPELINE_SEED` is the first seed.
    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }

    @Test("are read as a strict reader of RFC 9112 reads them: no request too many, none lost")
    func differential() async throws {
        let first = Self.number("PIPELINE_SEED") ?? 1
        let count = Self.number("PIPELINES") ?? 2_000
        // A connection waits for the server's close most of its time.
        let lanes: UInt64 = 16
        try await withServer { server in
            let port = server.port
            var requests = 0
            try await withThrowingTaskGroup(of: [Result].self) { group in
                for lane in 0..<lanes {
                    group.addTask {
                        try await blockingInBackground {
                            try stride(from: first + lane, to: first + count, by: Int(lanes)).map {
                                try Self.result(of: $0, port: port)
                            }
                        }
                    }
                }
                for try await results in group {
                    requests += results.reduce(0) { $0 + $1.requests }
                    for difference in results.compactMap(\.difference) { Issue.record("\(difference)") }
                }
            }
            #expect(requests > 0)
        }
    }

    private struct Result {
        let requests: Int
        let difference: String?
    }

    private static func result(of seed: UInt64, port: UInt16) throws -> Result {
        let pipeline = Pipeline(seed: seed)
        let strict = StrictReader(pipeline.bytes)
        let answers = try answers(port: port, to: pipeline, strict, in: Int(seed % 3) + 1)
        let difference = difference(answers, strict).map {
            let text = pipeline.bytes.map { $0 < 128 ? "\(UnicodeScalar($0).escaped(asASCII: true))" : "\\x\($0)" }
            return "seed \(seed): \($0)\n\(text.joined())"
        }
        return Result(requests: strict.requests.count, difference: difference)
    }

    /// Everything that the server answers before it closes.
    private static func answers(
        port: UInt16, to pipeline: Pipeline, _ strict: StrictReader, in pieces: Int
    ) throws -> [Answer] {
        let connection = try RawConnection(port: port)
        let size = max(1, (pipeline.bytes.count + pieces - 1) / pieces)
        for start in stride(from: 0, to: pipeline.bytes.count, by: size) {
            // The server may have refused what came before, and have closed.
            do { try connection.send(Array(pipeline.bytes[start..<min(start + size, pipeline.bytes.count)])) } catch {
                break
            }
        }
        connection.finishSending()
        var rest = try connection.readToEnd()[...]
        var answers: [Answer] = []
        while let answer = Answer(
            &rest, isBodiless: answers.count < strict.requests.count && strict.requests[answers.count].method == "HEAD")
        {
            answers.append(answer)
        }
        return answers
    }

    private struct Answer {
        let status: Int
        let body: [UInt8]

        /// Nil where no answer begins. A body may be missing: a refusal may be one of a HEAD.
        init?(_ rest: inout ArraySlice<UInt8>, isBodiless: Bool) {
            let blankLine = rest.indices.first { rest[$0...].starts(with: [13, 10, 13, 10]) }
            guard let blankLine,
                let response = try? TestResponse(head: String(decoding: rest[..<blankLine], as: UTF8.self))
            else { return nil }
            status = response.status
            let length = isBodiless ? 0 : response["Content-Length"].flatMap { Int($0) } ?? 0
            body = Array(rest[(blankLine + 4)...].prefix(length))
            rest = rest[(blankLine + 4)...].dropFirst(length)
        }
    }

    /// What the server has read in another way; nil when it agrees.
    private static func difference(_ answers: [Answer], _ strict: StrictReader) -> String? {
        for (place, request) in strict.requests.enumerated() {
            let mayEnd = strict.mayEndBefore <= place
            guard place < answers.count else { return mayEnd ? nil : "request \(place) is lost: \(request)" }
            let answer = answers[place]
            if mayEnd, answer.status >= 400, place == answers.count - 1 { return nil }
            let expected: (status: Int, body: [UInt8])? =
                switch (request.method, request.target) {
                case ("GET", "/"): (200, Array("ok".utf8))
                case ("HEAD", "/"): (200, [])
                case ("POST", "/echo"), ("POST", "/later"): (200, request.body)
                default: nil
                }
            if let expected, answer.status != expected.status || answer.body != expected.body {
                return "request \(place), \(request), is answered with \(answer.status) \(answer.body)"
            }
        }
        let more = answers.dropFirst(strict.requests.count)
        if let wrong = more.first(where: { $0.status < 400 }) { return "a request too many is answered: \(wrong.body)" }
        return more.count > 1 ? "\(more.count) refusals on one connection" : nil
    }
}
