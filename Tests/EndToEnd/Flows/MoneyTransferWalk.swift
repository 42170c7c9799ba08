import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Walking a transfer of money")
struct MoneyTransferWalk {
    private static let entered: JSONDocument = [
        "to": ["name": "Charles Babbage", "iban": "GB33BUKB20201555555555"], "amount": 12_500, "purpose": "Gears",
    ]
    private static let pin: JSONDocument = ["pin": "1843"]

    @Test("from confirm nothing leads back to authorise, and looking at it again changes nothing")
    func confirmed() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "money-transfer", by: client)
            try await walk.send("submit", Self.entered, to: "authorise")
            let confirm = try await walk.send("authorise", Self.pin, to: "confirm")
            #expect(confirm[member: "can_go_back"] == false)
            try await walk.refused("back", code: "event_not_accepted")
            try await walk.refused("authorise", Self.pin, code: "event_not_accepted")
            let link = try await client.send("POST", "\(walk.path)/navigation", json: #"{"to":"authorise"}"#)
            #expect(link.code == "unreachable")
            let input = try await client.send("POST", "\(walk.path)/navigation", json: #"{"to":"input"}"#)
            #expect(input.code == "unreachable", "only another transfer leads there, which wipes this one")
            for _ in 0..<3 {
                let reloaded = try await walk.look()
                #expect(reloaded.text == confirm.text)
                #expect(reloaded["ETag"] == confirm["ETag"])
            }
            let same = try await client.get(walk.path, fields: [("If-None-Match", confirm["ETag"] ?? "")])
            #expect(same.status == 304)
            #expect(try await walk.look().why(not: "cancel") == ["/transfer/sent_at"])
            try await walk.refused("cancel", code: "guard_not_met", at: ["/transfer/sent_at"])
        }
    }

    @Test("nothing is sent twice: not by the same key, not by a stale step")
    func once() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "money-transfer", by: client)
            let transfer = Paths.service("transfer", ofJourney: walk.path)
            let ready = try await walk.send("submit", Self.entered, to: "authorise")
            let first = try await walk.send("authorise", Self.pin, to: "confirm", fields: key("k") + ifMatch(ready))
            let sent = try await client.get(transfer)
            let second = try await walk.send("authorise", Self.pin, to: "confirm", fields: key("k") + ifMatch(ready))
            #expect(second["Idempotency-Replayed"] == "true")
            #expect(second.text == first.text)
            try await walk.refused(
                "authorise", Self.pin, code: "precondition_failed", fields: key("l") + ifMatch(ready))
            #expect(try await client.get(transfer)["ETag"] == sent["ETag"])
        }
    }

    @Test("a sum that nobody saw is not sent: what another tab enters is another transfer, and 412 on the same one")
    func twoTabs() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "money-transfer", by: client)
            let other = try await Walk(of: "money-transfer", by: client)
            let seen = try await walk.send("submit", Self.entered.merging(["amount": 100]), to: "authorise")
            try await other.send("submit", Self.entered.merging(["amount": 99_999]), to: "authorise")
            let confirm = try await walk.send("authorise", Self.pin, to: "confirm", fields: ifMatch(seen))
            #expect(confirm.shown("transfer")?[member: "amount"] == 100)
            // Starting a second one leaves the confirmation of the first.
            try await other.send("authorise", Self.pin, to: "confirm")
            try await other.send("another", to: "input")
            #expect(try await walk.look().shown("transfer")?[member: "amount"] == 100)
        }
    }

    @Test("who does not authorise in five minutes is back at the input, and after a quarter of an hour it is all over")
    func slow() async throws {
        let clock = SteeredClock()
        try await withShippedFlows(clock: clock, sessionIdle: .seconds(7200)) { _, client in
            let walk = try await Walk(of: "money-transfer", by: client)
            try await walk.send("submit", Self.entered, to: "authorise")
            clock.advance(.seconds(299))
            #expect(try await walk.look().screen == "authorise")
            clock.advance(.seconds(1))
            let late = try await walk.look()
            #expect(late.stack == ["input"])
            #expect(late.shown("transfer")?[member: "amount"] == 12_500)
            clock.advance(.seconds(600))
            let over = try await walk.look()
            #expect(over[member: "status"] == "expired")
            #expect(try await client.event("next", on: walk.path).status == 410)
            #expect(try await client.send("PUT", walk.path).screen == "input")
        }
    }
}
