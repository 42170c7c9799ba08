import Testing

/// A head as deployed proxies, gateways and browsers send it, with the names and lengths that they use.
struct RealHead: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let fields: [(name: String, value: String)]

    private init(_ name: String, _ fields: [(String, String)]) {
        testDescription = name
        self.fields = [("Host", "api.shop.example.org")] + fields
    }

    var text: String {
        "GET /v1/sessions/current/services/profile HTTP/1.1\r\n"
            + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
    }

    /// - Parameter name: in lower case.
    func values(of name: String) -> [String] { fields.filter { $0.name.lowercased() == name }.map(\.value) }

    /// Opaque characters, as in a token.
    private static func opaque(_ count: Int) -> String {
        String((0..<count).map { Array("eyJhbGciOiJSUzI1NiIsImtpZCI6IjEyMyJ9-_")[$0 * 7 % 38] })
    }

    private static func cookies(_ cookies: [(String, Int)]) -> (String, String) {
        ("Cookie", cookies.map { "\($0)=\(opaque($1))" }.joined(separator: "; "))
    }

    private static let browser: [(String, String)] = [
        ("Connection", "keep-alive"),
        ("sec-ch-ua", #""Chromium";v="136", "Google Chrome";v="136", "Not.A/Brand";v="99""#),
        ("sec-ch-ua-mobile", "?0"), ("sec-ch-ua-platform", "\"Windows\""), ("DNT", "1"),
        (
            "User-Agent",
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/136.0.0.0 Safari/537.36"
        ),
        ("Accept", "application/json"), ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "cors"),
        ("Sec-Fetch-Dest", "empty"), ("Referer", "https://shop.example.org/checkout/address?step=2&utm_source=mail"),
        ("Accept-Encoding", "gzip, deflate, br, zstd"), ("Accept-Language", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7"),
    ]
    private static let cloudflare: [(String, String)] = [
        ("CF-Ray", "93f0c5a1b8d2e4f6-FRA"), ("CF-Visitor", #"{"scheme":"https"}"#), ("CF-IPCountry", "DE"),
        ("CF-Connecting-IP", "2001:db8:85a3::8a2e:370:7334"), ("CDN-Loop", "cloudflare; loops=1"),
        ("X-Forwarded-For", "2001:db8:85a3::8a2e:370:7334"), ("X-Forwarded-Proto", "https"),
    ]
    private static let analytics: [(String, Int)] = [
        ("_ga", 27), ("_ga_4RX2JY1Q0K", 53), ("_gid", 27), ("_gcl_au", 25), ("_fbp", 34),
        ("_hjSessionUser_2891234", 120),
        ("_hjSession_2891234", 120), ("OptanonConsent", 640), ("OptanonAlertBoxClosed", 24), ("intercom-id-a1b2c3", 36),
        ("intercom-session-a1b2c3", 120), ("intercom-device-id-a1b2c3", 36), ("__cf_bm", 160), ("cf_clearance", 210),
        ("_uetsid", 32), ("concierge", 46),
    ]
    private static let tracing: [(String, String)] = [
        ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ("tracestate", "dd=s:1;o:rum,rojo=00f067aa0ba902b7"),
        ("baggage", "sentry-environment=production,sentry-public_key=\(opaque(32)),sentry-trace_id=\(opaque(32))"),
    ]

    /// Of all fields in any of them, in lower case.
    static let names = Set(all.flatMap(\.fields).map { $0.name.lowercased() }).sorted()

    static let all: [RealHead] = [
        RealHead(
            "Chrome with analytics, consent and chat behind Cloudflare",
            browser + cloudflare + [cookies(analytics)]),
        RealHead(
            "Cloudflare Access",
            browser + cloudflare
                + [
                    ("Cf-Access-Jwt-Assertion", opaque(1100)),
                    ("Cf-Access-Authenticated-User-Email", "ada@example.org"),
                    cookies([("CF_Authorization", 1100), ("CF_AppSession", 20)] + analytics),
                ]),
        RealHead(
            "Supabase with a token in chunks",
            browser
                + [
                    ("apikey", opaque(210)), ("Authorization", "Bearer \(opaque(1200))"),
                    cookies((0..<3).map { ("sb-abcdefghijklmnop-auth-token.\($0)", 2800) }),
                ]),
        RealHead(
            "Auth0 with a session in chunks",
            browser + [
                cookies([("appSession.0", 3900), ("appSession.1", 2100), ("auth0", 400), ("auth0_compat", 400)])
            ]),
        RealHead(
            "oauth2-proxy with tokens passed on",
            browser
                + [
                    ("X-Auth-Request-User", opaque(36)), ("X-Auth-Request-Email", "ada@example.org"),
                    ("X-Auth-Request-Access-Token", opaque(1500)), ("X-Forwarded-Access-Token", opaque(1500)),
                    ("Authorization", "Bearer \(opaque(1500))"),
                    cookies([("_oauth2_proxy_0", 3900), ("_oauth2_proxy_1", 900)]),
                ]),
        RealHead(
            "an AWS balancer with OpenID Connect",
            browser
                + [
                    ("x-amzn-oidc-data", opaque(1700)), ("x-amzn-oidc-accesstoken", opaque(1400)),
                    ("x-amzn-oidc-identity", opaque(36)), ("X-Amzn-Trace-Id", "Root=1-\(opaque(33))"),
                    cookies([("AWSELBAuthSessionCookie-0", 4000), ("AWSELBAuthSessionCookie-1", 1400), ("AWSALB", 130)]
                    ),
                ]),
        RealHead(
            "Azure's front door with Easy Auth",
            browser
                + [
                    ("X-MS-CLIENT-PRINCIPAL", opaque(3200)), ("X-MS-TOKEN-AAD-ID-TOKEN", opaque(1800)),
                    ("X-Azure-Ref", opaque(60)), ("X-Azure-FDID", opaque(36)),
                    cookies([("AppServiceAuthSession", 1800)]),
                ]),
        RealHead("Kerberos with many groups", browser + [("Authorization", "Negotiate \(opaque(11_000))")]),
        RealHead("33 tiny cookies", browser + [cookies((1...33).map { ("c\($0)", 1) })]),
        RealHead(
            "180 cookies, as many as browsers keep of a domain", browser + [cookies((1...180).map { ("c\($0)", 40) })]),
        RealHead(
            "52 fields of four gateways",
            browser + cloudflare + tracing
                + (1...28).map { ("X-Gateway-\($0 % 4)-Field-\($0)", opaque(40)) }),
        RealHead(
            "Istio with client certificates",
            tracing
                + [
                    (
                        "x-forwarded-client-cert",
                        (1...3).map { "By=spiffe://c/\($0);Hash=\(opaque(64));Cert=\"\(opaque(1500))\"" }.joined(
                            separator: ",")
                    ),
                    ("x-envoy-attempt-count", "1"), ("x-envoy-peer-metadata", opaque(700)),
                    ("x-request-id", opaque(36)),
                    ("x-b3-traceid", opaque(32)), ("x-b3-spanid", opaque(16)), ("x-b3-sampled", "1"),
                ]),
        RealHead(
            "cookies with JSON, and commas in it",
            browser + [
                (
                    "Cookie",
                    "consent={\"a\":1,\"b\":[1,2,3]}; "
                        + (1...30).map { "p\($0)=1,2,3,4,5,6,7,8,9" }.joined(separator: "; ")
                )
            ]),
    ]
}
