import Configuration
import HTTPTestClient
import Testing

/// The inputs that a fuzzer has found worth keeping: among them everything that ever broke something.
@Suite("Fuzzed input")
struct FuzzTests {
    @Test("breaks no rule, as far as the corpus goes", arguments: FuzzTarget.allCases)
    func corpus(target: FuzzTarget) async throws {
        let corpus = FileReader(
            directory: #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
                .joined(separator: "/") + "/corpus/\(target)")
        let names = try corpus.names(in: "")
        #expect(!names.isEmpty)
        try await blockingInBackground {
            for name in names { target.run(try corpus.read(name)) }
        }
    }
}
