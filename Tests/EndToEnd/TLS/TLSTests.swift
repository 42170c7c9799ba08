import CTLSClient
import Glibc
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

/// The real program with the certificates of `withCertificates`.
@Suite("TLS")
struct TLSTests {
    private static func serve(_ folder: String, _ arguments: [String] = []) throws -> ProgramProcess {
        try ProgramProcess(
            [
                "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--workers", "1", "--store",
                "sqlite:\(folder)/concierge.db", "--set", "limits.document_bytes=2MiB", "--set",
                "tls.certificate=\(folder)/server.pem", "--set",
                "tls.key=\(folder)/server.key",
            ] + arguments)
    }

    /// Starts the program, gives it to `body` and ends it.
    private static func withServer(
        _ arguments: [String] = [], name: String = "a",
        _ body: (_ process: ProgramProcess, _ publicPort: UInt16, _ adminPort: UInt16, String) async throws -> Void
    ) async throws {
        try await withCertificates { folder in
            try use(name, in: folder)
            let process = try serve(folder, arguments.map { $0.replacing("FOLDER", with: folder) })
            let ports = try await process.ports()
            try await body(process, ports.publicPort, ports.adminPort, folder)
            process.send(SIGTERM)
            #expect(try await process.result().status == 0)
        }
    }

    /// Lays a certificate and its key where the configuration names them.
    private static func use(_ name: String, in folder: String) throws {
        for kind in ["pem", "key"] {
            let link = "\(folder)/server.\(kind)"
            unlink(link)
            try #require(symlink("\(folder)/\(name).\(kind)", link) == 0)
        }
    }

    @Test(
        "both listeners speak HTTPS, with the whole chain, and say so; only then responses have Strict-Transport-Security"
    )
    func bothListeners() async throws {
        try await Self.withServer { _, publicPort, adminPort, _ in
            try await blocking {
                for port in [publicPort, adminPort] {
                    let client = try TLSClient(port: port)
                    #expect(client.chain == ["/CN=a", "/CN=inner"])
                    #expect(try client.version()["Strict-Transport-Security"] == "max-age=31536000")
                }
            }
        }
        try await withApplication { application in
            let field = try await application.client().get("/version")["Strict-Transport-Security"]
            #expect(field == nil)
        }
    }

    @Test("the cookie of the console is secure")
    func console() async throws {
        let digest = SHA256Digest(of: AdminTests.key.utf8).text()
        try await Self.withServer(["--set", "admin.key_hashes=operator:\(digest)"]) { _, _, adminPort, _ in
            let head = "/console/session HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin"
            let response = try await blocking {
                try TLSClient(port: adminPort).request("POST \(head)\r\nX-Admin-Key: \(AdminTests.key)")
            }
            let field = try #require(response["Set-Cookie"])
            #expect(field.hasPrefix("__Host-concierge-console=") && field.contains("; Secure; HttpOnly;"))
            let cookie = field.prefix { $0 != ";" }
            let session = try await blocking {
                try TLSClient(port: adminPort).request("GET \(head)\r\nCookie: \(cookie)")
            }
            #expect(session[member: "key"] == "operator")
        }
    }

    @Test("what is beyond the quota of new connections is closed before the handshake, and counted; open ones go on")
    func quota() async throws {
        try await Self.withServer([
            "--set", "quotas.connections=2/1h", "--set", "quotas.exempt=192.0.2.0/24",
        ]) { _, publicPort, adminPort, _ in
            try await blocking {
                let clients = try (0..<2).map { _ in try TLSClient(port: publicPort) }
                // A server that waited for a handshake would leave it open.
                for _ in 0..<3 { #expect(try RawConnection(port: publicPort).isClosedByPeer()) }
                for client in clients { _ = try client.version() }
                let metrics = try TLSClient(port: adminPort).request("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1").text
                #expect(metrics.contains(#"concierge_connections_throttled_total{listener="public"} 3"#))
                #expect(metrics.contains(#"concierge_connections_throttled_total{listener="admin"} 0"#))
            }
        }
    }

    @Test("check --against trusts the certificate of the configuration, or else what the system trusts")
    func checkAgainst() async throws {
        try await Self.withServer { _, _, adminPort, folder in
            let check = ["check", "--against", "https://127.0.0.1:\(adminPort)"]
            let files = ["--set", "tls.certificate=\(folder)/server.pem", "--set", "tls.key=\(folder)/server.key"]
            let run = try await ProgramProcess.run(check + files)
            #expect(run.status == 0, "\(run.complaints)")
            #expect(run.output.hasSuffix("0 journeys running, 0 on screens that stay as they are\n"), "\(run.output)")
            let refused = try await ProgramProcess.run(check)
            #expect(refused.status == 1)
            // What is wrong with it, libcurl says in its own words.
            #expect(refused.complaints.contains("certificate"), "\(refused.complaints)")
        }
    }

    @Test(
        "only TLS 1.2 and 1.3 are spoken",
        arguments: [
            (TLS1_VERSION, nil), (TLS1_1_VERSION, nil), (TLS1_2_VERSION, "TLSv1.2"), (TLS1_3_VERSION, "TLSv1.3"),
        ])
    func versions(version: Int32, name: String?) async throws {
        try await Self.withServer { _, port, _, _ in
            try await blocking {
                let offer = TLSClient.Offer(versions: version...version, ciphers: "ALL:@SECLEVEL=0")
                guard let name else {
                    let refused = #expect(throws: TLSClient.Refused.self) { try TLSClient(port: port, offer) }
                    return #expect(refused?.description == "tlsv1 alert protocol version")
                }
                let spoken = try TLSClient(port: port, offer).spokenVersion
                #expect(spoken == name)
            }
        }
    }

    @Test("of TLS 1.2 every cipher without forward secrecy or authenticated encryption is refused")
    func ciphers() async throws {
        try await Self.withServer { _, port, _, _ in
            try await blocking {
                func offer(_ ciphers: String) -> TLSClient.Offer {
                    .init(versions: TLS1_2_VERSION...TLS1_2_VERSION, ciphers: ciphers + ":@SECLEVEL=0")
                }
                for weak in [
                    "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA", "kRSA", "DHE", "aNULL", "eNULL", "CAMELLIA",
                    "ECDHE-ECDSA-AES128-CCM8",
                ] {
                    let refused = #expect(throws: TLSClient.Refused.self, "\(weak)") {
                        try TLSClient(port: port, offer(weak))
                    }
                    #expect(refused?.description.contains("alert handshake failure") == true, "\(weak)")
                }
                for strong in [
                    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305",
                ] {
                    let cipher = try TLSClient(port: port, offer(strong)).cipher
                    #expect(cipher == strong)
                }
            }
        }
    }

    @Test("what a proxy says of its client comes before TLS, on the public listener alone")
    func proxyProtocol() async throws {
        let settings = ["--set", "proxies.networks=127.0.0.1", "--set", "proxies.field=proxy-protocol"]
        try await Self.withServer(settings + ["--set", "quotas.requests=1/1h"]) { _, publicPort, adminPort, folder in
            let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
            let statuses = try await blocking {
                try [7, 8, 7].map { (client: UInt8) in
                    let addresses: [UInt8] = [203, 0, 113, client, 10, 0, 0, 1, 1, 2, 3, 4]
                    let header = signature + [0x21, 0x11, 0, 12] + addresses
                    return try TLSClient(port: publicPort, after: header).request("GET /v1/flows HTTP/1.1\r\nHost: h")
                        .status
                }
            }
            #expect(statuses == [200, 200, 429])
            try await blocking {
                #expect(throws: TLSClient.Refused.self) { try TLSClient(port: publicPort) }
                let answer = try TLSClient(port: adminPort).request("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1")
                #expect(answer.status == 200)
            }
            // From here it has no header to send.
            let asked = try await ProgramProcess.run(
                ["health", "--port", "\(publicPort)", "--admin-port", "\(adminPort)"] + settings + [
                    "--set", "tls.certificate=\(folder)/server.pem", "--set", "tls.key=\(folder)/server.key",
                ])
            #expect(asked.status == 0, "\(asked.complaints)")
        }
    }

    @Test("concierge health asks the public listener where this machine is not among the proxies")
    func healthBesideProxies() async throws {
        let settings = [
            "--set", "proxies.networks=10.0.0.0/8", "--set", "proxies.field=proxy-protocol", "--set",
            "tls.client_ca=FOLDER/clients.pem",
        ]
        try await Self.withServer(settings) { _, publicPort, _, folder in
            let asked = try await ProgramProcess.run(
                ["health", "--port", "\(publicPort)", "--admin-port", "1"]
                    + settings.map { $0.replacing("FOLDER", with: folder) } + [
                        "--set", "tls.certificate=\(folder)/server.pem", "--set", "tls.key=\(folder)/server.key",
                    ])
            #expect(asked.status == 0, "\(asked.complaints)")
        }
    }

    @Test("ALPN is http/1.1; a client that offers other protocols alone is refused")
    func applicationProtocol() async throws {
        try await Self.withServer { _, port, _, _ in
            try await blocking {
                for offered in [["http/1.1"], ["h2", "http/1.1"]] {
                    let chosen = try TLSClient(port: port, .init(protocols: offered)).chosenProtocol
                    #expect(chosen == "http/1.1")
                }
                let unasked = try TLSClient(port: port).chosenProtocol
                #expect(unasked == nil)
                let refused = #expect(throws: TLSClient.Refused.self) {
                    try TLSClient(port: port, .init(protocols: ["h2"]))
                }
                #expect(refused?.description == "tlsv1 alert no application protocol")
            }
        }
    }

    @Test("with tls.client_ca the admin listener serves only clients with a certificate of that authority")
    func clientCertificates() async throws {
        try await Self.withServer(["--set", "tls.client_ca=FOLDER/clients.pem"]) { _, publicPort, adminPort, folder in
            try await blocking {
                func ask(_ name: String?, _ version: Int32, _ port: UInt16) throws -> Int {
                    var offer = TLSClient.Offer(versions: version...version)
                    offer.certificate = name.map { ("\(folder)/\($0).pem", "\(folder)/\($0).key") }
                    return try TLSClient(port: port, offer).version().status
                }
                for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
                    let trusted = try ask("ada", version, adminPort)
                    #expect(trusted == 200)
                    for name in [nil, "stranger", "serveronly", "a"] {
                        #expect(throws: (any Error).self, "\(name ?? "none")") { try ask(name, version, adminPort) }
                    }
                    // It concerns the admin listener alone.
                    let publicly = try ask(nil, version, publicPort)
                    #expect(publicly == 200)
                }
            }
        }
    }

    @Test(
        "concierge check says what is wrong with the files, and nothing of their contents",
        arguments: [
            ("a.pem", "a.key", "", ""), ("none.pem", "a.key", "", "/tls/certificate missing_file"),
            ("a.key", "a.key", "", "/tls/certificate bad_value"), ("a.pem", "a.pem", "", "/tls/key bad_value"),
            ("a.pem", "b.key", "", "/tls/key conflict"), ("a.pem", "", "", "/tls/key missing_key"),
            ("", "a.key", "", "/tls/certificate missing_key"), ("", "", "clients.pem", "/tls/certificate missing_key"),
            ("a.pem", "a.key", "a.key", "/tls/client_ca bad_value"),
            ("services", "a.key", "", "/tls/certificate wrong_file_kind"),
            ("old.pem", "old.key", "", "warning: /tls/certificate expired_certificate"),
        ])
    func check(certificate: String, key: String, authorities: String, expected: String) async throws {
        try await withCertificates { folder in
            let keys = [("certificate", certificate), ("key", key), ("client_ca", authorities)]
            let settings = keys.filter { !$0.1.isEmpty }.flatMap { ["--set", "tls.\($0.0)=\(folder)/\($0.1)"] }
            let result = try await ProgramProcess.run(["check", "--store", "memory"] + settings)
            let isGood = expected.isEmpty || expected.hasPrefix("warning")
            #expect(result.status == (isGood ? 0 : 2))
            let said = result.output + result.complaints
            #expect(expected.isEmpty ? !said.contains("/tls") : said.contains(expected), "\(said)")
            // PEM data begins with "MI". So may a part of the folder's random name.
            #expect(!said.contains("BEGIN") && !said.replacing(folder, with: "").contains("MI"))
        }
    }

    @Test("concierge health reaches a server with HTTPS")
    func health() async throws {
        try await Self.withServer { _, port, _, folder in
            let arguments = ["health", "--host", "127.0.0.1", "--port", "\(port)"]
            let settings = ["--set", "tls.certificate=\(folder)/server.pem", "--set", "tls.key=\(folder)/server.key"]
            let secure = try await ProgramProcess.run(arguments + settings).status
            #expect(secure == 0)
            let plain = try await ProgramProcess.run(arguments).status
            #expect(plain == 1)
        }
    }

    @Test("plain HTTP gets no byte of HTTP back")
    func plainText() async throws {
        try await Self.withServer { _, port, _, _ in
            try await blocking {
                let client = try RawConnection(port: port)
                try client.send("POST /v1/sessions HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
                // At most an alert: its type is 21, and it has seven bytes.
                let bytes = try client.readToEnd()
                #expect(bytes.isEmpty || (bytes.first == 21 && bytes.count == 7))
                #expect(try TLSClient(port: port).version().status == 200)
            }
        }
    }

    @Test(
        "at SIGHUP new connections get the new certificate, and a kept connection goes on; a bad file changes nothing")
    func reload() async throws {
        try await Self.withServer { process, port, adminPort, folder in
            let kept = try await blocking { Held(try TLSClient(port: port)) }
            #expect(try kept.value.version().status == 200)
            try Self.use("b", in: folder)
            process.send(SIGHUP)
            let loaded = try await process.line(of: "certificate_loaded")
            let metrics = try await blocking {
                try TLSClient(port: adminPort).request("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1").text
            }
            let end = try #require(metrics.firstMatch(of: /\nconcierge_certificate_end_timestamp_seconds (\d+)\n/)?.1)
            let ends = Timestamp(millisecondsSince1970: try #require(Int64(end)) * 1_000)
            #expect(loaded[string: "expires_at"] == ends.description)
            for port in [port, adminPort] {
                #expect(try await blocking { try TLSClient(port: port).chain } == ["/CN=b", "/CN=inner"])
            }
            #expect(try await blocking { try kept.value.version().status } == 200)
            #expect(kept.value.chain == ["/CN=a", "/CN=inner"])
            // Of another certificate.
            unlink("\(folder)/server.key")
            #expect(symlink("\(folder)/a.key", "\(folder)/server.key") == 0)
            process.send(SIGHUP)
            let line = try await process.line(of: "certificate_refused")
            #expect(line[string: "detail"]?.contains("is not the key of the first certificate") == true)
            #expect(try await blocking { try TLSClient(port: port).chain } == ["/CN=b", "/CN=inner"])
        }
    }

    @Test("what the server writes itself, refusals and early responses, is encrypted and ended properly")
    func refusals() async throws {
        let json = "Host: h\r\nContent-Type: application/json\r\n"
        let requests: [(bytes: String, status: Int)] = [
            ("not HTTP\r\n\r\n", 400), ("GET  /version HTTP/1.1\r\nHost: h\r\n\r\n", 400),
            ("GET /version HTTP/1.1\r\nHost: h\r\nA: \(String(repeating: "x", count: 17_000))\r\n\r\n", 431),
            ("GET /\(String(repeating: "x", count: 3000)) HTTP/1.1\r\nHost: h\r\n\r\n", 414),
            ("POST /v1/sessions HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n", 400),
            ("POST /v1/sessions HTTP/1.1\r\n\(json)Content-Length: 2000000\r\n\r\n", 413),
            ("POST /v1/sessions HTTP/1.1\r\n\(json)Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n", 400),
            ("POST /v1/nothing HTTP/1.1\r\n\(json)Content-Length: 2\r\nExpect: 100-continue\r\n\r\n", 404),
        ]
        try await Self.withServer { _, port, _, _ in
            for request in requests {
                try await blocking {
                    let client = try TLSClient(port: port)
                    try client.connection.send(request.bytes)
                    let response = try client.connection.readResponse()
                    #expect(response.status == request.status, "\(request.bytes.prefix(60))")
                    #expect(response["Content-Type"] == "application/problem+json")
                    #expect(response["Strict-Transport-Security"] != nil)
                    #expect(try client.connection.readToEnd().isEmpty)
                    #expect(client.wasEndedProperly, "\(request.bytes.prefix(60))")
                }
            }
        }
    }

    @Test("chunked bodies are checked on the wire, and the next request on the connection is found")
    func chunks() async throws {
        try await Self.withServer { _, port, _, _ in
            try await blocking {
                let client = try TLSClient(port: port)
                let post = "POST /v1/sessions HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                let chunked = post + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;a=b\r\n}\r\n0\r\n\r\n"
                // Two in one record, and then one in a record for each byte.
                try client.connection.send(chunked + chunked)
                for byte in chunked.utf8 { try client.connection.send([byte]) }
                for _ in 0..<3 { #expect(try client.connection.readResponse().status == 201) }
                #expect(try client.version().status == 200)
            }
        }
    }

    @Test(
        "durable writes, an event stream, long bodies and pipelined requests work as without TLS",
        .timeLimit(.minutes(2)))
    func everything() async throws {
        try await Self.withServer([
            "--set", "limits.body_bytes=4MiB", "--services", "FOLDER/services", "--set", "admin.key=0123456789abcdef",
        ]) {
            process, port, adminPort, _ in
            try await blocking {
                let client = try TLSClient(port: port)
                let created = try client.request("POST /v1/sessions HTTP/1.1\r\nHost: h")
                let token = try #require(created[member: "token"]?.string)
                let auth = "Host: h\r\nAuthorization: Bearer \(token)"
                let profile = "/v1/sessions/current/services/profile"

                let events = try TLSClient(port: port)
                try events.connection.send("GET /v1/sessions/current/events HTTP/1.1\r\n\(auth)\r\n\r\n")
                #expect(try events.connection.readResponse(isBodiless: true).status == 200)

                // Written to the disk before the response: the request waits.
                for number in 0..<20 {
                    let written = try client.request(
                        "PATCH \(profile) HTTP/1.1\r\n\(auth)", body: #"{"name":"Ada \#(number)"}"#,
                        type: "application/merge-patch+json")
                    #expect(written.status == 200)
                }
                var seen = ""
                while !seen.contains("profile"), let chunk = try events.connection.readChunk() {
                    seen += String(decoding: chunk, as: UTF8.self)
                }

                // A GET behind others in one record.
                let get = "GET \(profile) HTTP/1.1\r\n\(auth)\r\n\r\n"
                try client.connection.send(String(repeating: get, count: 40))
                for _ in 0..<40 {
                    #expect(try client.connection.readResponse()[member: "name"] == "Ada 19")
                }

                // 1 MiB there and back.
                let text = String(repeating: "x", count: 1 << 20)
                let basket = "/v1/sessions/current/services/large"
                let put = try client.request("PUT \(basket) HTTP/1.1\r\n\(auth)", body: #"{"text":"\#(text)"}"#)
                #expect(put.status == 200 || put.status == 201)
                for _ in 0..<3 {
                    let back = try client.request("GET \(basket) HTTP/1.1\r\n\(auth)")
                    #expect(back[member: "text"]?.string?.utf8.count == 1 << 20)
                }

                // Streamed.
                let export = try TLSClient(port: adminPort).request(
                    "POST /v1/exports HTTP/1.1\r\nHost: h\r\nX-Admin-Key: 0123456789abcdef")
                #expect(export.status == 200 && export.isWhole && export.body.count > 1 << 20)
            }
        }
    }
}

/// What one thread at a time uses.
private struct Held<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
