import FlowTools
import JSONDocument
import Navigation
import Testing

@Suite("Problems of flow files")
struct ProblemTests {
    private func problems(_ files: [String]) -> (catalog: FlowCatalog?, problems: [FlowProblem]) {
        FlowLoader(services: TestServices.directory).load(
            files.enumerated().map { FlowFile(name: "\($0.offset).json", bytes: Array($0.element.utf8)) })
    }

    @Test("each is found where it is, with a guess", arguments: ProblemExample.all)
    func found(example: ProblemExample) {
        let (catalog, problems) = problems(example.files)
        let found = problems.first { $0.code == example.code && $0.pointer == example.pointer }
        #expect(found != nil, "\(problems.map(\.description))")
        #expect(found?.severity == example.severity)
        if let guess = example.guess { #expect(found?.guess == guess) }
        #expect((catalog == nil) == problems.contains { $0.severity == .error })
    }

    @Test("there is an example of each code")
    func complete() {
        #expect(Set(FlowProblemCode.allCases) == Set(ProblemExample.all.map(\.code)))
    }

    @Test("the flows of the documentation have none")
    func none() {
        let (catalog, problems) = problems([Flows.wizard.description, Flows.editQuote.description])
        #expect(problems == [])
        #expect(catalog?.ids == ["edit-quote", "wizard"])
        #expect(catalog?.flow("wizard")?.state("page1")?.screen?.name == "Page")
    }

    @Test("a flow that calls commands as they are has none, and one with several mistakes has one for each")
    func calls() {
        func flow(_ actions: String) -> String {
            #"{"id": "f", "version": 1, "initial": "a", "owns": ["cart"], "states": {"a": {"on": {"go": {"actions": [\#(actions)]}}}}}"#
        }
        let good = flow(
            #"{"call": "cart/add", "with": {"id": {"$from": "/event/id"}, "count": 1}}, {"op": "add", "path": "/cart/total", "value": {"$from": "/result/total"}}, {"call": "cart/reset"}, {"op": "add", "path": "/limits/n", "value": {"$from": "/result/anything"}}"#
        )
        #expect(problems([good]).problems == [])
        // What follows a command that is not known is not reported, because its output is not known.
        let bad = flow(
            #"{"call": "cart/ad", "with": 7}, {"op": "add", "path": "/limits/n", "value": {"$from": "/result/x"}}, {"call": "cart/add", "with": {"tags": {"$from": "/now"}}}"#
        )
        #expect(
            problems([bad]).problems.map(\.description) == [
                #"0.json: error: /states/a/on/go/actions/0/call unknown_command: cart has no command "ad"; it has add, empty, reset and sync; did you mean "cart/add"?"#,
                #"0.json: error: /states/a/on/go/actions/2/with/tags input_mismatch: cart/add does not take it: the value is a string; expected an array"#,
                #"0.json: error: /states/a/on/go/actions/2/with input_mismatch: cart/add does not take it: /id is required"#,
                #"0.json: error: /states/a/on/go/actions/2/with input_mismatch: cart/add does not take it: /count is required"#,
            ])
    }

    @Test(
        "a literal that looks like a path, an array around an argument, and a value of another type say what to write",
        arguments: [
            (
                #"{"compare": ["/quote/text", "==", "/home"]}"#,
                #"/compare/2 unknown_service: there is no service "home"; the string itself is {"value": "/home"}"#
            ),
            (
                #"{"in": ["/quote/text", ["/a"]]}"#,
                #"/in/1/0 unknown_service: there is no service "a"; the string itself is {"value": "/a"}"#
            ),
            (
                #"{"compare": [{"$join": ["/basket/names", "/"]}, "==", "x"]}"#,
                #"/compare/0/$join/1 unknown_service: there is no service ""; the string itself is {"value": "/"}"#
            ),
            (
                #"{"compare": [{"$add": [{"$from": "/home"}, 1]}, "==", 2]}"#,
                #"/compare/0/$add/0/$from unknown_service: there is no service "home""#
            ),
            (
                #"{"compare": [{"$max": ["/basket/names"]}, "==", "x"]}"#,
                #"/compare/0/$max bad_value: $max takes its value as it is, not in an array: {"$max": "/basket/names"}"#
            ),
            (
                #"{"compare": [{"$count": [{"$keys": "/basket"}]}, "==", 1]}"#,
                #"/compare/0/$count bad_value: $count takes its value as it is, not in an array: {"$count": …}"#
            ),
            (
                #"{"in": [7, "/basket/names"]}"#,
                "/in guard_never: the value is a number, and each element of the list is a string, so this never holds"
            ),
        ])
    func instead(guardian: String, said: String) {
        let flow =
            #"{"id": "f", "version": 1, "initial": "a", "states": {"a": {"on": {"go": {"target": "a", "guard": \#(guardian)}}}}}"#
        let found = problems([flow]).problems.map(\.description)
        #expect(found.contains { $0.hasSuffix(": /states/a/on/go/guard\(said)") }, "\(found)")
    }

    @Test("an array around an argument is no problem where the function takes what it makes")
    func arrays() {
        for value in [#"{"$max": ["/quote/text"]}"#, #"{"$count": [[1]]}"#, #"{"$unique": ["/limits/any"]}"#] {
            let flow =
                #"{"id": "f", "version": 1, "initial": "a", "states": {"a": {"on": {"go": {"actions": [{"op": "add", "path": "/limits/x", "value": \#(value)}]}}}}}"#
            #expect(problems([flow]).problems.filter { $0.code == .badValue } == [])
        }
    }

    @Test("a flow that calls commands of a service uses it")
    func callsShare() {
        func flow(_ id: String) -> String {
            #"{"id": "\#(id)", "version": 1, "initial": "a", "states": {"a": {"on": {"go": {"actions": [{"call": "cart/empty"}]}}}}}"#
        }
        #expect(problems([flow("f")]).problems.map(\.code) == [.sharedData])
        #expect(problems([flow("f"), flow("g")]).problems == [])
    }

    @Test("all problems of all files are found at once, in the order of the files")
    func all() {
        let bad =
            #"{"id": "x", "version": 1, "initial": "b", "extra": 1, "states": {"a": {"data": ["nil"], "on": {"go": {"target": "c"}}}}}"#
        let (_, problems) = problems([bad, "nothing", bad.replacingX()])
        #expect(
            problems.map(\.file) == [
                "0.json", "0.json", "0.json", "0.json", "1.json", "2.json", "2.json", "2.json", "2.json",
            ])
        #expect(Set(problems.map(\.code)) == [.unknownKey, .unknownService, .unknownState, .notJSON])
    }

    @Test("a problem is one line with file, place, code and guess")
    func line() {
        let (_, problems) = problems([
            #"{"id": "x", "version": 1, "initial": "strat", "states": {"start": {"on": {"go": {"target": "start"}}}}}"#
        ])
        #expect(
            problems.map(\.description) == [
                #"0.json: error: /initial unknown_state: the flow has no state "strat"; did you mean "start"?"#
            ])
    }

    @Test("no message is a sentence: it begins small and has no full stop", arguments: ProblemExample.all)
    func form(example: ProblemExample) {
        for problem in problems(example.files).problems {
            #expect(!problem.message.hasSuffix("."))
            #expect(problem.message.first?.isUppercase == false, "\(problem.message)")
        }
    }

    @Test("files may have comments, and one that is no JSON says where")
    func comments() {
        let (catalog, _) = problems(["// a flow\n" + Flows.editQuote.description])
        #expect(catalog != nil)
        let (_, problems) = problems(["{\n  \"id\": nil\n}"])
        #expect(problems.first?.message.hasPrefix("line 2, column 10") == true, "\(problems)")
    }
}

extension String {
    fileprivate func replacingX() -> String { split(separator: "\"x\"").joined(separator: "\"y\"") }
}
