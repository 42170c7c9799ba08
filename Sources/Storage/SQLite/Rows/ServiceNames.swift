/// Which place in the catalogue has which name in the tables: places are of one process, names stay.
struct ServiceNames: Sendable {
    private let names: [String]
    private let places: [String: UInt16]

    /// - Parameter names: in the order of the catalogue.
    init(_ names: [String]) {
        self.names = names
        places = Dictionary(
            uniqueKeysWithValues: names.enumerated().map { (place, name) in (name, UInt16(place)) })
    }

    subscript(place: UInt16) -> String { names[Int(place)] }

    /// Nil for a service that was written once and is not declared any more. Its rows stay.
    subscript(name: String) -> UInt16? { places[name] }
}
