import JSONDocument
import Navigation
import Testing

@Suite("Services that no client may know of")
struct HiddenServiceTests {
    private static let flow = Flows.make(
        [
            "a": [
                "on": [
                    "compare": ["guard": ["compare": ["/limits/low", ">", "/vault/limit"]], "target": "b"],
                    "turned": ["guard": ["compare": ["/vault/limit", "<", 3]], "target": "b"],
                    "shape": [
                        "guard": ["service": "vault", "schema": ["properties": ["limit": ["const": 7]]]], "target": "b",
                    ],
                    "named": ["guard": "rich", "target": "b"],
                    "open": ["guard": ["compare": ["/limits/low", ">", 3]], "target": "b"],
                    "type": ["guard": ["compare": ["/limits/name", ">", "/vault/limit"]], "target": "b"],
                ]
            ], "b": ["on": ["on": ["target": "a"]]],
        ],
        adding: [
            "guards": ["rich": ["compare": ["/vault/limit", ">", 100], "say": "Your limit is too low."]]
        ])

    @Test("what a guard says of one is not said, but for the author's own words")
    func reasons() throws {
        let traveller = try Traveller(Self.flow)
        let why = Dictionary(
            uniqueKeysWithValues: try traveller.view().events.map { event in
                (event.name, event.why.map { "\($0.pointer) \($0.detail)" })
            })
        let concealed = "is refused by something that is not shown"
        #expect(
            why == [
                "compare": ["/limits/low \(concealed)"], "turned": [" \(concealed)"], "shape": [" \(concealed)"],
                "named": [" Your limit is too low."], "open": ["/limits/low must be more than 3"],
                "type": ["/limits/name \(concealed)"],
            ])
    }

    @Test("refusals are concealed by pointer and by text, and those of other services are not")
    func refusals() {
        func conceal(_ pointer: String, _ detail: String) -> [String] {
            let refusal = JourneyRefusal.guardNotMet([JSONViolation(pointer: pointer, detail: detail)])
            return refusal.concealing(["vault"]).violations.map { "\($0.pointer) \($0.detail)" }
        }
        let concealed = "is refused by something that is not shown"
        #expect(conceal("/vault", "x") == [" \(concealed)"])
        #expect(conceal("/vaults/a", "x") == ["/vaults/a x"])
        #expect(conceal("/a", "must be the value at /vault/limit") == ["/a \(concealed)"])
        #expect(conceal("/a", "must be the value at /vault-2/limit") == ["/a must be the value at /vault-2/limit"])
        let choice = JSONViolation(pointer: "/vault", detail: "must be one of the values in the list at /vault/items")
        for refusal in [
            JourneyRefusal.eventDataInvalid([choice]), .inputInvalid(flow: "f", [choice]),
            .outputInvalid(outcome: "ok", [choice]),
        ] {
            // Its place is within what was sent.
            let violations = refusal.concealing(["vault"]).violations
            #expect(violations.map(\.detail) == [concealed])
            #expect(violations.allSatisfy { $0.pointer.hasSuffix("/vault") })
        }
        #expect(
            JourneyRefusal.serviceInvalid(service: "vault", [JSONViolation(pointer: "/vault/limit", detail: "x")])
                .concealing(["vault"]) == .actionFailed(JSONViolation(pointer: "", detail: concealed)))
    }
}
