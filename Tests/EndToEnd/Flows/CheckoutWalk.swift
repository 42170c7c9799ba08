import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Walking the checkout")
struct CheckoutWalk {
    private static let address: JSONDocument = [
        "name": "Ada", "street": "12 St James's Square", "postcode": "SW1Y 4JH", "city": "London", "country": "GB",
    ]

    /// Goes as far as the payment.
    @discardableResult
    private static func toPayment(_ walk: Walk) async throws -> TestResponse {
        try await walk.send("submit", address, to: "delivery")
        try await walk.send("choose", ["method": "express"], to: "contact")
        try await walk.send("submit", ["email": "ada@example.org"], to: "terms")
        return try await walk.send("agree", ["agreed": true], to: "payment")
    }

    @Test("address, delivery, verification, payment, done: the order has it all, and the outcome says so")
    func ordered() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "checkout", by: client)
            let contact = try await walk.send("submit", Self.address, to: "delivery")
            #expect(contact.shown("order")?[member: "address"] == Self.address)
            let verifying = try await walk.send("choose", ["method": "express"], to: "contact")
            #expect(verifying.coordinators == ["checkout", "verification"])
            try await walk.send("submit", ["email": "ada@example.org"], to: "terms")
            let payment = try await walk.send("agree", ["agreed": true], to: "payment")
            #expect(payment.coordinators == ["checkout"])
            #expect(payment.stack == ["address", "delivery", "payment"])
            let verification = payment.shown("order")?[member: "verification"]
            #expect(verification?[string: "name"] == "Ada")
            #expect(verification?[string: "email"] == "ada@example.org")
            #expect(isTimestamp(verification?[string: "verified_at"]))
            let done = try await walk.send("pay", ["method": "card"], to: "done")
            #expect(done[member: "can_go_back"] == false)
            let finished = try await walk.finish("finish", outcome: "ordered")
            #expect(finished[member: "output"]?[string: "delivery"] == "express")
            #expect(isTimestamp(finished[member: "output"]?[member: "payment"]?[string: "paid_at"]))
        }
    }

    @Test("back goes to the delivery, over the verification that is over, and on to the address; nothing is lost")
    func back() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "checkout", by: client)
            try await Self.toPayment(walk)
            try await walk.back(to: "delivery")
            let address = try await walk.back(to: "address")
            #expect(address.shown("order")?[member: "address"] == Self.address)
            try await walk.send("next", to: "delivery")
            // Who has been verified is not asked again.
            try await walk.send("choose", ["method": "pickup"], to: "payment")
        }
    }

    @Test("back out of the verification releases it; refusing the terms leads back to the delivery, unverified")
    func unverified() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "checkout", by: client)
            try await walk.send("submit", Self.address, to: "delivery")
            try await walk.send("choose", ["method": "standard"], to: "contact")
            #expect(try await walk.back(to: "delivery").coordinators == ["checkout"])
            try await walk.send("next", to: "contact")
            try await walk.send("submit", ["email": "ada@example.org"], to: "terms")
            try await walk.refused("agree", ["agreed": false], code: "invalid_input", at: ["/data/agreed"])
            let refused = try await walk.send("refuse", to: "delivery")
            #expect(refused.coordinators == ["checkout"])
            #expect(refused.shown("order")?[member: "verification"] == .null)
        }
    }

    @Test("a verification that takes longer than half an hour is over, and the checkout stays at the delivery")
    func slow() async throws {
        let clock = SteeredClock()
        try await withShippedFlows(clock: clock, sessionIdle: .seconds(7200)) { _, client in
            let walk = try await Walk(of: "checkout", by: client)
            try await walk.send("submit", Self.address, to: "delivery")
            try await walk.send("choose", ["method": "standard"], to: "contact")
            clock.advance(.seconds(29 * 60))
            try await walk.send("submit", ["email": "ada@example.org"], to: "terms")
            clock.advance(.seconds(60))
            let late = try await walk.look()
            #expect(late.screen == "delivery")
            #expect(late.coordinators == ["checkout"])
            clock.advance(.seconds(3600))
            #expect(try await walk.look()[member: "status"] == "expired")
        }
    }

    @Test("nothing leads back over the payment: not back, not a deep link")
    func noWayBack() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "checkout", by: client)
            try await Self.toPayment(walk)
            try await walk.send("pay", ["method": "invoice"], to: "done")
            try await walk.refused("back", code: "event_not_accepted")
            for screen in ["payment", "delivery", "address"] {
                let refused = try await client.send(
                    "POST", "\(walk.path)/navigation", json: #"{"to":"\#(screen)"}"#)
                #expect(refused.code == "unreachable", "\(screen): \(refused.text)")
            }
            #expect(try await walk.look().screen == "done")
        }
    }

    @Test("a deep link leads as far as the data does, and says what is missing")
    func deepLink() async throws {
        try await withShippedFlows { app, client in
            let id = try #require(try await client.get(Paths.current)[member: "id"]?.string)
            let walk = try await Walk(of: "checkout", by: client)
            let journey = try #require(try await walk.look()[member: "id"]?.string)
            let order = Paths.service("order", ofJourney: Paths.journey(journey, of: id))
            try await walk.unreachable("payment", blockedBy: "delivery", at: ["/order/address"])
            try await app.admin().patch(order, #"{"address":\#(Self.address)}"#)
            try await walk.unreachable("payment", blockedBy: "payment", at: ["/order/delivery", "/order/verification"])
            try await app.admin().patch(order, #"{"delivery":"standard"}"#)
            try await walk.navigate(to: "contact", by: ["delivery", "contact"])
            try await walk.send("submit", ["email": "ada@example.org"], to: "terms")
            try await walk.send("agree", ["agreed": true], to: "payment")
            let at = try await client.send("POST", Paths.journeys, json: #"{"flow":"checkout","at":"payment"}"#)
            #expect(at.code == "unreachable", "the new journey has an order of its own")
        }
    }

    @Test("nobody says by himself that the order is paid")
    func forged() async throws {
        try await withShippedFlows { _, client in
            let order = Paths.service("order", ofJourney: try await Walk(of: "checkout", by: client).path)
            let paid = #"{"payment":{"method":"card","paid_at":"2026-01-01T00:00:00.000Z"}}"#
            let refused = try await client.patch(order, paid)
            #expect(refused.status == 405)
            #expect(try await client.get(order)[member: "payment"] == .null)
        }
    }
}
