import JSONDocument
import Navigation
import Testing

@Suite("Kept journeys")
struct JourneyCodingTests {
    @Test("a journey is kept with all that it is made of")
    func whole() throws {
        var traveller = try Traveller(Flows.wizard, Flows.editQuote)
        try traveller.send("sign_in", ["name": "Ada"])
        traveller.now += 1_000
        try traveller.send("next")
        try traveller.send("edit")
        let text = String(decoding: traveller.journey.json, as: UTF8.self)
        #expect(
            text == #"{"id":"main","step":4,"at":[1767225600000,1000],"end":1767227401000,"#
                + #""who":[["wizard",1],["edit-quote",1,{"author":"Ada"},1000,1,0,"quote_editor"]],"#
                + #""on":["start","page1","page2",["show",1,"modal"]]}"#)
        #expect(Journey(traveller.journey.document) == traveller.journey)
    }

    @Test("a journey that is over keeps its outcome and output, and nothing else")
    func over() throws {
        var traveller = try Traveller(Flows.wizard, Flows.editQuote)
        try traveller.send("cancel")
        let text = String(decoding: traveller.journey.json, as: UTF8.self)
        #expect(
            text == #"{"id":"main","step":2,"at":[1767225600000],"status":"finished","flow":"wizard","version":1,"#
                + #""outcome":"cancelled","output":null}"#)
    }

    @Test(
        "what is not a journey is not taken for one",
        arguments: [
            "null", "{}", #"{"id":"x","step":-1,"at":[0],"who":[],"on":[]}"#,
            #"{"id":"x","step":1,"at":[0],"who":[],"on":[]}"#,
            #"{"id":"x","step":1,"at":[0],"who":[["f"]],"on":["a"]}"#,
            #"{"id":"x","step":1,"at":[0],"who":[["f",1],["g",1]],"on":["a"]}"#,
            #"{"id":"x","step":1,"at":[0],"who":[["f",1],["g",1,{},0,1,7,"s"]],"on":["a"]}"#,
            #"{"id":"x","step":1,"at":[9223372036854775807,9223372036854775807],"who":[["f",1]],"on":["a"]}"#,
            #"{"id":"x","step":1,"at":[0],"who":[["f",1,{},9223372036854775807]],"on":["a"]}"#,
            #"{"id":"x","step":1,"at":[0],"who":[["f",1]],"on":[["a",0,"sideways"]]}"#,
            #"{"id":"x","step":1,"at":[0],"status":"lost","flow":"f","version":1}"#,
        ])
    func refused(text: String) throws {
        #expect(Journey(try JSONDocument(parsing: text)) == nil)
    }

    @Test("an input that is nested too deep to be kept is refused")
    func deep() throws {
        var input: JSONDocument = .emptyObject
        for _ in 0..<48 { input = ["x": input] }
        let flow = Flows.make(["a": ["on": ["go": ["target": "a"]]]])
        #expect(throws: JourneyRefusal.self) { _ = try Traveller(flow, input: input) }
        _ = try Traveller(flow, input: try #require(input[member: "x"]))
    }
}
