import Sessions
import Testing

@testable import ConciergeApp
@testable import HTTPServer

@Suite("Requests that are sent again")
struct IdempotencyMiddlewareTests {
    struct Failure: Error {}

    @Test("the second gets the first one's answer, marked, and is not done")
    func replay() async throws {
        let place = try IdempotentPlace { request in
            var response = HTTPResponse(.created, body: Array("{\"n\": 1}\u{0}\n".utf8) + [0xFF])
            response.fields.add(.contentType, "application/json")
            response.fields.add(.location, "/v1/things/1")
            response.fields.add(.etag, "\"7\"")
            response.fields.add(.setCookie, "a=1; Path=/")
            response.fields.add(.setCookie, "b=2; Path=/")
            response.fields.add(.requestID, request.id.text)
            return response
        }
        let first = try await place.post("k", id: "one")
        let second = try await place.post(#""k""#, id: "two")
        #expect(place.done == 1)
        #expect(!first.isReplayed)
        #expect(second.status == first.status)
        #expect(second.body == first.body)
        // Request-Id is the transport's, for each request its own.
        #expect(second.lines == first.lines.filter { $0 != "Request-Id: one" } + ["Idempotency-Replayed: true"])
        #expect(try await place.post("k").lines == second.lines)
    }

    @Test("an answer without fields and body is replayed too")
    func bare() async throws {
        let place = try IdempotentPlace { _ in HTTPResponse(.noContent) }
        _ = try await place.post("k")
        let again = try await place.post("k")
        #expect(again.status == .noContent && again.body.isEmpty && again.isReplayed)
    }

    @Test(
        "another request with the same key is 422",
        arguments: [
            makeRequest(key: "k", body: #"{"a":1}"#), makeRequest(target: "/v1/things?x=1", key: "k"),
            makeRequest(target: "/v1/other", key: "k"), makeRequest(key: "k", type: "text/plain"),
        ])
    func mismatch(other: HTTPRequest) async throws {
        let place = try IdempotentPlace()
        _ = try await place.post("k")
        await #expect { try await place.ask(other) } throws: {
            let error = $0 as? HTTPError
            return error?.status == .unprocessableContent && error?.code == "idempotency_key_reused"
        }
        #expect(place.done == 1)
        #expect(try await place.post("k").isReplayed)
    }

    @Test("where one part ends and the next begins makes a difference")
    func parts() {
        func digest(_ parts: String...) -> SHA256Digest {
            var hasher = PartsHasher("test")
            for part in parts { hasher.add(part) }
            return hasher.finish()
        }
        #expect(digest("/a", "t", "b") == digest("/a", "t", "b"))
        #expect(digest("/a", "t", "b") != digest("/at", "", "b"))
        #expect(digest("/a", "t", "b") != digest("/a", "", "tb"))
        #expect(digest("/a", "t", "b") != digest("", "/a", "t", "b"))
    }

    @Test("while the first is worked on, the second is 409 with Retry-After, and afterwards it gets the answer")
    func inProgress() async throws {
        let gate = Gate()
        let place = try IdempotentPlace { _ in
            await gate.pass()
            return HTTPResponse(.created, text: "made")
        }
        async let first = place.post("k")
        await gate.visit()
        await #expect { try await place.post("k") } throws: {
            let error = $0 as? HTTPError
            return error?.status == .conflict && error?.code == "request_in_progress"
                && error?.fields[.retryAfter] == "1"
        }
        await #expect { try await place.post("k", body: "[]") } throws: {
            ($0 as? HTTPError)?.status == .unprocessableContent
        }
        // However long it takes: it does not expire under the worker.
        place.clock.advance(.seconds(48 * 3_600))
        await #expect(throws: HTTPError.self) { try await place.post("k") }
        gate.open()
        #expect(try await first.text == "made")
        #expect(try await place.post("k").isReplayed)
        #expect(place.done == 1)
    }

    @Test("an administrator's key for one session is another key for the next one, also while the first is worked on")
    func administrator() async throws {
        let gate = Gate()
        let place = try IdempotentPlace(isAdministered: true) { request in
            await gate.pass()
            return HTTPResponse(.created, text: "made for \(request.fields["Caller"] ?? "")")
        }
        async let first = place.post("k", caller: "ada")
        await gate.visit()
        await #expect(throws: HTTPError.self) { try await place.post("k", caller: "ada") }
        let other = try? await place.post("k", caller: "bob").text
        gate.open()
        #expect(other == "made for bob")
        #expect(try await first.text == "made for ada")
        for caller in ["ada", "bob"] {
            let again = try await place.post("k", caller: caller)
            #expect(again.isReplayed && again.text == "made for \(caller)")
        }
        #expect(place.done == 2)
    }

    @Test("of many at once with one key, one is done")
    func race() async throws {
        let gate = Gate()
        let place = try IdempotentPlace { _ in
            await gate.pass()
            return HTTPResponse(text: "made")
        }
        let statuses = await withTaskGroup { group in
            for _ in 0..<32 {
                group.addTask {
                    do { return try await place.post("k").status } catch {
                        return (error as? HTTPError)?.status ?? .internalServerError
                    }
                }
            }
            var statuses: [HTTPStatus] = []
            for await status in group {
                statuses.append(status)
                // All the others have theirs before the one that is done.
                if statuses.count == 31 { gate.open() }
            }
            return statuses
        }
        #expect(statuses.filter { $0 == .conflict }.count == 31)
        #expect(statuses.last == .ok)
        #expect(place.done == 1)
    }

    @Test("one key of two callers is two keys")
    func callers() async throws {
        let place = try IdempotentPlace()
        let first = try await place.post("k", id: "one", caller: "ada")
        let second = try await place.post("k", id: "two", caller: "grace")
        #expect(first.text == "made one" && second.text == "made two")
        #expect(!second.isReplayed)
        #expect(try await place.post("k", caller: "ada").text == "made one")
    }

    @Test("who may not ask any more gets no remembered answer")
    func unauthorized() async throws {
        let place = try IdempotentPlace()
        _ = try await place.post("k")
        await #expect { try await place.post("k", caller: "nobody") } throws: {
            ($0 as? HTTPError)?.status == .unauthorized
        }
    }

    @Test("every method that may change something has keys", arguments: [HTTPMethod.post, .put, .patch, .delete])
    func methods(method: HTTPMethod) async throws {
        let place = try IdempotentPlace()
        for isReplayed in [false, true] {
            #expect(try await place.ask(makeRequest(method, key: "k")).isReplayed == isReplayed)
        }
        await #expect(throws: HTTPError.self) { try await place.ask(makeRequest(HTTPMethod("LOCK"), key: "k")) }
        #expect(place.done == 1)
    }

    @Test("without a key, and with a safe method, nothing is remembered", arguments: [HTTPMethod.post, .get, .options])
    func straightThrough(method: HTTPMethod) async throws {
        let place = try IdempotentPlace()
        let request = makeRequest(method, key: method == .post ? nil : "k")
        _ = try await place.ask(request)
        #expect(try await !place.ask(request).isReplayed)
        #expect(place.done == 2 && place.idempotency.count == 0)
    }

    @Test("after these the client may try again", arguments: [401, 412, 428, 429, 500, 502, 503, 504, 507])
    func notRemembered(status: UInt16) async throws {
        let place = try IdempotentPlace { _ in HTTPResponse(HTTPStatus(status)) }
        _ = try await place.post("k")
        // Not even the payload is held to.
        #expect(try await !place.post("k", body: "[]").isReplayed)
        #expect(place.done == 2)
    }

    @Test("after these it has had its answer", arguments: [200, 201, 202, 204, 303, 400, 404, 409])
    func remembered(status: UInt16) async throws {
        let place = try IdempotentPlace { _ in HTTPResponse(HTTPStatus(status)) }
        _ = try await place.post("k")
        #expect(try await place.post("k").isReplayed)
    }

    @Test("a handler that throws releases the key", arguments: [Failure() as any Error, CancellationError()])
    func throwing(error: any Error) async throws {
        let place = try IdempotentPlace { request in
            if request.id.text == "bad" { throw error }
            return HTTPResponse(text: "made")
        }
        // A bug is an answer of 500, which is not remembered; who is cancelled gives no answer.
        let failed = try? await place.post("k", id: "bad")
        #expect(failed == nil || failed?.status == .internalServerError)
        #expect(try await !place.post("k", body: "[]").isReplayed)
        #expect(try await place.post("k", body: "[]").isReplayed)
    }

    @Test("an error of the client's is remembered as any answer is")
    func clientError() async throws {
        let place = try IdempotentPlace { _ in throw HTTPError(.conflict, code: "patch_conflict", detail: "No.") }
        #expect(try await place.post("k").status == .conflict)
        let again = try await place.post("k")
        #expect(again.isReplayed)
        #expect(again.status == .conflict)
        await #expect(throws: HTTPError.self) { try await place.post("k", body: "[]") }
    }

    @Test("what was done for a client that had gone is remembered for when it comes back")
    func cancelled() async throws {
        let gate = Gate()
        let place = try IdempotentPlace { _ in
            await gate.pass()
            return HTTPResponse(text: "made")
        }
        let first = Task { try await place.post("k") }
        await gate.visit()
        first.cancel()
        gate.open()
        _ = try await first.value
        #expect(try await place.post("k").isReplayed)
    }
}

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
