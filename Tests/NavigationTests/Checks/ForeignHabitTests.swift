import FlowTools
import Navigation
import Testing

@Suite("Habits of authors from other languages")
struct ForeignHabitTests {
    private func problems(_ flow: String) -> [FlowProblem] {
        FlowLoader(services: TestServices.directory).load([FlowFile(name: "f.json", bytes: Array(flow.utf8))]).problems
    }

    @Test("each is found, with a sentence that says what to write instead", arguments: ForeignHabit.all)
    func found(habit: ForeignHabit) {
        let problems = problems(habit.flow)
        let found = problems.contains { problem in
            problem.code == habit.code && "\(problem)".contains(habit.instead) && !problem.message.contains(". ")
        }
        #expect(found, "\(problems.map(\.description))")
    }

    @Test("there are at least 46, each with a name of its own")
    func count() {
        #expect(Set(ForeignHabit.all.map(\.name)).count == ForeignHabit.all.count)
        #expect(ForeignHabit.all.count >= 46)
    }

    @Test(
        "what looks alike and is right is not reported",
        arguments: [
            // Rounds that go back, replace, or show another thing each time.
            #""a": {"on": {"go": {"target": "b"}}}, "b": {"on": {"again": {"target": "a", "nav": "pop_to"}}}"#,
            #""a": {"on": {"go": {"target": "a", "nav": "replace"}}}"#,
            #""a": {"on": {"go": {"target": "a", "params": {"id": {"$from": "/event/id"}}}}}"#,
            #""a": {"on": {"go": {"target": "b"}}}, "b": {"on": {"edit": {"target": "a"}, "done": {"target": "a", "nav": "set_root"}}}"#,
            #""c": {"type": "choice", "branches": [{"target": "a"}]}, "a": {"on": {"go": {"nav": "pop_to", "target": "a"}, "x": {"target": "c"}}}"#,
            // Params that the transition before a choice gives, or the flow that starts this one.
            #""a": {"on": {"go": {"target": "c", "params": {"id": 1}}}}, "c": {"type": "choice", "branches": [{"target": "b"}]}, "b": {"on": {"go": {"target": "a", "nav": "pop_to", "actions": [{"op": "replace", "path": "/quote/text", "value": {"$from": "/frame/id"}}]}}}"#,
            #""a": {"on": {"go": {"actions": [{"op": "replace", "path": "/quote/text", "value": {"$from": "/frame/id"}}]}}}"#,
            #""a": {"on": {"go": {"actions": [{"op": "add", "path": "/basket/items/-", "value": {"name": "x", "price": 1, "count": 1}}]}}}"#,
            #""a": {"on": {"go": {"actions": [{"op": "replace", "path": "/quote/text", "value": "a - b, and = c"}]}}}"#,
            #""a": {"on": {"go": {"guard": {"compare": ["/quote/text", "==", {"value": "quote.text"}]}, "target": "a", "nav": "replace"}}}"#,
            #""a": {"on": {"go": {"actions": [{"op": "add", "path": "/limits/x-1", "value": {"$from": "/limits/-a"}}]}}}"#,
        ])
    func clean(states: String) {
        let flow = #"{"id": "f", "version": 1, "initial": "a", "states": {\#(states)}}"#
        #expect(problems(flow) == [])
    }
}
