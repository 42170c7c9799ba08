import JSONDocument

/// Documents at random, the same ones for the same seed (the generator is SplitMix64).
struct RandomDocuments {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func number() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func next(levels: Int) -> JSONDocument {
        switch number() % (levels > 0 ? 8 : 6) {
        case 0: .null
        case 1: JSONDocument(number() % 2 == 0)
        case 2: JSONDocument(Int(truncatingIfNeeded: number()))
        case 3: JSONDocument(Double(bitPattern: number()))
        case 4: JSONDocument(Double(Int32(truncatingIfNeeded: number())) / 8)
        case 5: JSONDocument(text())
        case 6: JSONDocument((0..<number() % 5).map { _ in next(levels: levels - 1) })
        default: JSONDocument(members: (0..<number() % 5).map { _ in (text(), next(levels: levels - 1)) })
        }
    }

    private mutating func text() -> String {
        let alphabet: [Character] = ["a", "b", "\"", "\\", "/", "~", "\n", "\u{0}", "\u{1F}", "é", "😀", "\u{FFFF}"]
        return String((0..<number() % 8).map { _ in alphabet[Int(number() % UInt64(alphabet.count))] })
    }
}
