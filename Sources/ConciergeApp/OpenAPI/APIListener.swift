/// One of the two listeners of the program, each of which has an API of its own.
package enum APIListener: String, Sendable, CaseIterable {
    case `public`, admin
}
