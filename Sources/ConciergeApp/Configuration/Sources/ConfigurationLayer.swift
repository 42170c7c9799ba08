/// What a source had to say.
struct ConfigurationLayer {
    var assignments: [Assignment] = []
    var problems: [ConfigurationProblem] = []
}
