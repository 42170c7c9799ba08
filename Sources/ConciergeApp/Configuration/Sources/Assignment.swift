/// One value for one key from one source; which of several wins is decided later.
struct Assignment {
    let key: ConfigurationKey
    let written: WrittenValue
    let origin: ValueOrigin
}

/// What a source had to say.
struct Layer {
    var assignments: [Assignment] = []
    var problems: [ConfigurationProblem] = []
}
