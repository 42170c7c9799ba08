import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Walking edit-quote")
struct EditQuoteWalk {
    @Test("changes go to a draft, and saving makes it the quotation")
    func saved() async throws {
        try await withShippedFlows { _, client in
            let before = try await client.get(Paths.quote)
            let walk = try await Walk(of: "edit-quote", by: client)
            #expect(try await walk.look().shown("quote") == (try before.json))
            let form = try await walk.send("edit", to: "edit")
            #expect(form.shown("quote-draft") == (try before.json))
            let changed = try await walk.send("change", ["text": "Shorter."], to: "edit")
            #expect(changed.shown("quote-draft")?[string: "text"] == "Shorter.")
            #expect(changed.shown("quote-draft")?[string: "author"] == "Ada Lovelace", "what is not said stays")
            #expect(try await client.get(Paths.quote).text == before.text)
            let saved = try await walk.finish("save", outcome: "saved")
            #expect(saved[member: "output"] == ["text": "Shorter.", "author": "Ada Lovelace"])
            #expect(try await client.get(Paths.quote).json == ["text": "Shorter.", "author": "Ada Lovelace"])
            #expect(try await client.listing(of: "quote-draft")?[string: "status"] == "registered")
        }
    }

    @Test("cancelled, closed or given up, the quotation stays as it was and no draft is left", arguments: 0..<3)
    func cancelled(way: Int) async throws {
        try await withShippedFlows { _, client in
            let before = try await client.get(Paths.quote)
            let walk = try await Walk(of: "edit-quote", by: client)
            try await walk.send("edit", to: "edit")
            try await walk.send("change", ["text": "Never mind."], to: "edit")
            switch way {
            case 0: try await walk.finish("cancel", outcome: "cancelled")
            case 1:
                try await walk.back(to: "show")
                try await walk.finish("close", outcome: "cancelled")
            default: #expect(try await client.send("DELETE", walk.path).status == 204)
            }
            let after = try await client.get(Paths.quote)
            #expect(after.text == before.text)
            #expect(after["ETag"] == before["ETag"], "it was not even written")
            #expect(try await client.listing(of: "quote-draft")?[string: "status"] == "registered")
        }
    }

    @Test("an empty text is not saved, and a client may as well write the draft itself")
    func draft() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "edit-quote", input: ["author": "Bea"], by: client)
            let draft = Paths.service("quote-draft", ofJourney: walk.path)
            try await walk.send("edit", to: "edit")
            try await client.patch(draft, #"{"text":""}"#)
            try await walk.refused("save", code: "guard_not_met", at: ["/event/text", "/quote-draft/text"])
            try await walk.refused("save", ["text": ""], code: "invalid_input", at: ["/data/text"])
            try await client.patch(draft, #"{"text":"In my own words."}"#)
            let saved = try await walk.finish("save", outcome: "saved")
            #expect(saved[member: "output"] == ["text": "In my own words.", "author": "Bea"])
        }
    }
}
