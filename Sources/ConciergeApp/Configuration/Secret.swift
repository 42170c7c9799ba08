/// A text that must not be printed: it shows itself as stars wherever it is described, interpolated or dumped.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package static let mask = "********"

    /// The text itself; whoever asks for it takes care of where it goes.
    package let revealed: String

    package init(_ text: String) {
        revealed = text
    }

    package var description: String { Self.mask }
    package var debugDescription: String { Self.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
