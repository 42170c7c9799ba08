/// One value for one key from one source; which of several wins is decided later.
struct Assignment {
    let key: ConfigurationKey
    let written: WrittenValue
    let origin: ValueOrigin
}
