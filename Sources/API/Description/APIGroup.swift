/// Operations that belong together, under a heading of the description.
package struct APIGroup: Sendable {
    let name: String
    let meaning: String
    package let operations: [APIOperation]

    package init(name: String, meaning: String, operations: [APIOperation]) {
        self.name = name
        self.meaning = meaning
        self.operations = operations
    }
}
