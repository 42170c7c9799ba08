/// The functions of values that take their arguments as they are. Each is total: it has a result, or says why it has
/// none. Those that look at each element of a list are ``ListFunction``.
public enum ValueFunction: String, Sendable, CaseIterable {
    /// The sum of numbers, exact.
    case add = "$add"
    /// The difference of two numbers, exact.
    case subtract = "$subtract"
    /// The product of numbers, exact.
    case multiply = "$multiply"
    /// A number with so many places behind the point; what is in the middle is rounded away from 0.
    case round = "$round"
    /// Texts one behind the other. A number stands as it is written in JSON.
    case concat = "$concat"
    /// A text without white space at its ends.
    case trim = "$trim"
    /// A text in small letters.
    case lower = "$lower"
    /// A text in capital letters.
    case upper = "$upper"
    /// How many elements a list or characters a text has.
    case count = "$count"
    /// A part of a list or of a text: from an index, so many; a negative index counts from the end.
    case slice = "$slice"
    /// The texts of a list with a separator between them.
    case join = "$join"
    /// A list without the elements that are equal to one before.
    case unique = "$unique"
    /// The least element of a list.
    case min = "$min"
    /// The greatest element of a list.
    case max = "$max"
    /// The names of an object's members, sorted.
    case keys = "$keys"

    /// How many arguments it takes. A function of one takes it as it is, the others take a list.
    var arguments: ClosedRange<Int> {
        switch self {
        case .add, .multiply, .concat: 1...100
        case .subtract, .round, .join: 2...2
        case .slice: 2...3
        case .trim, .lower, .upper, .count, .unique, .min, .max, .keys: 1...1
        }
    }

    /// What the argument at a place must be.
    func takes(at place: Int) -> SchemaOverlap.Kinds {
        switch self {
        case .add, .subtract, .multiply, .round: .number
        case .concat: [.text, .number]
        case .trim, .lower, .upper: .text
        case .count: [.text, .list]
        case .slice: place == 0 ? [.text, .list] : .number
        case .join: place == 0 ? .list : .text
        case .unique, .min, .max: .list
        case .keys: .object
        }
    }

    /// What the elements of the list must be that is its argument; nil where it takes any.
    var elements: SchemaOverlap.Kinds? {
        switch self {
        case .join: [.text, .number]
        case .min, .max: [.text, .number]
        default: nil
        }
    }

    /// Whether a text that begins with "/" was a literal before texts in arguments could be paths. It still is one
    /// where nothing has that name.
    var hasOldTexts: Bool { [.concat, .trim, .lower, .upper, .count].contains(self) }
}
