/// Translates places in the catalogue to names. Rows have names: places may differ in the next process.
package struct ServiceNames: Sendable {
    private let names: [String]
    private let places: [String: UInt16]

    /// - Parameter names: in the order of the catalogue.
    package init(_ names: [String]) {
        self.names = names
        places = Dictionary(uniqueKeysWithValues: zip(names, 0...))
    }

    package subscript(place: UInt16) -> String { names[Int(place)] }

    /// Nil for a service that is not declared any more. Rows keep its documents.
    package subscript(name: String) -> UInt16? { places[name] }
}
