/// The six kinds of JSON value, whole numbers told apart from others by how they are written (`1` and `1.0`).
public enum JSONKind: Sendable, Equatable {
    case null, bool, integer, double, string, array, object
}
