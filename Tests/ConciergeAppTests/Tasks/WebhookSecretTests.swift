import Configuration
import Testing

@Suite("Signatures of webhooks")
struct WebhookSecretTests {
    @Test("are those of the example that implementations of Standard Webhooks share")
    func example() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        #expect("\(secret)" == "********" && String(reflecting: secret) == "********")
    }

    @Test(
        "need whsec_ and the base64 of 24 to 64 bytes",
        arguments: [
            "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa==",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2Lx====", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS_",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2L=",
        ])
    func refused(text: String) {
        #expect(WebhookSecret(text) == nil)
    }
}
