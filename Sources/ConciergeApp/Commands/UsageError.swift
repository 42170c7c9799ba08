/// A command line that says nothing the program understands, as one sentence.
package struct UsageError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ sentence: String) {
        description = sentence
    }
}
