/// What became of room that a store does not need any more, in its own pages.
package struct SpaceGivenBack: Sendable, Equatable {
    package let given: Int
    /// Free still: the next session goes there, unless it is given back as well.
    package let left: Int
    /// False for a file that cannot be made smaller while it is in use.
    package let isPossible: Bool

    package init(given: Int, left: Int, isPossible: Bool) {
        self.given = given
        self.left = left
        self.isPossible = isPossible
    }
}
