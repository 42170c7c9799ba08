/// A version of a flow that journeys run or have run.
package struct UsedFlow: Sendable, Hashable {
    package let flow: String
    package let version: Int
    /// The ids of its states, sorted, each followed by a blank. A version should never change; this shows if one did.
    package let states: String

    package init(flow: String, version: Int, states: String) {
        self.flow = flow
        self.version = version
        self.states = states
    }
}
