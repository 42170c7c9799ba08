import JSONDocument

/// The element that a list function, or a quantifier, looks at: `/item` and `/index`. A class, so that nothing is
/// copied for each element, and a scope outside of lists carries nothing.
final class ListElement {
    let list: ListValues
    /// The element of the list around, which this one shadows.
    let outer: ListElement?
    var index = 0

    init(of list: ListValues, in outer: ListElement?) {
        self.list = list
        self.outer = outer
    }

    var item: JSONDocument { list.values[index] }
}

/// The elements of a list, and where they stand in the data.
struct ListValues {
    let values: [JSONDocument]
    /// The path of the list; of one that is made, of the first value that it is made from.
    let source: DataPath?
    private let places: Places

    private enum Places {
        /// Each stands in the list at the path, in this order.
        case same
        /// They stand there in these places.
        case at([Int])
        /// They are made of what is there.
        case none
    }

    /// - Parameter isMade: whether the elements are not those at the path.
    init(_ values: [JSONDocument], from source: DataPath?, isMade: Bool) {
        self.init(values, source, isMade ? .none : .same)
    }

    private init(_ values: [JSONDocument], _ source: DataPath?, _ places: Places) {
        self.values = values
        self.source = source
        self.places = places
    }

    /// Some of the elements, in another order.
    func selecting(_ indices: [Int]) -> ListValues {
        let places: Places =
            switch self.places {
            case .same: .at(indices)
            case .at(let places): .at(indices.map { places[$0] })
            case .none: .none
            }
        return ListValues(indices.map { values[$0] }, source, places)
    }

    /// Where an element stands in the list at the path; nil for one that is made.
    func place(of index: Int) -> Int? {
        switch places {
        case .same: index
        case .at(let places): places[index]
        case .none: nil
        }
    }
}

/// Values in an order, as `compare` has it.
enum OrderedValues {
    case numbers([Decimal])
    case times([CalendarTime])
    case texts([String])

    /// Nil, and the index of the first value that has no order with the first one.
    init?(_ values: [JSONDocument], failingAt place: inout Int) {
        func all<Value>(_ value: (JSONDocument) -> Value?) -> [Value]? {
            var found: [Value] = []
            found.reserveCapacity(values.count)
            for (index, document) in values.enumerated() {
                guard let next = value(document) else {
                    place = index
                    return nil
                }
                found.append(next)
            }
            return found
        }
        if let text = values.first?.string {
            if CalendarTime(text) == nil {
                let texts = all { $0.string.flatMap { CalendarTime($0) == nil ? $0 : nil } }
                guard let texts else { return nil }
                self = .texts(texts)
            } else {
                guard let times = all({ $0.string.flatMap(CalendarTime.init) }) else { return nil }
                // Compared with a day, a time is its day, and so it is among days.
                let hasDays = times.contains(where: \.isDay)
                self = .times(hasDays ? times.map { $0.day(in: nil) ?? $0 } : times)
            }
        } else {
            guard let numbers = all(Decimal.init) else { return nil }
            self = .numbers(numbers)
        }
    }

    func isLess(_ one: Int, _ other: Int) -> Bool {
        switch self {
        case .numbers(let numbers): numbers[one] < numbers[other]
        case .times(let times): CalendarTime.order(times[one], times[other]) < 0
        case .texts(let texts): texts[one].utf8.lexicographicallyPrecedes(texts[other].utf8)
        }
    }
}
